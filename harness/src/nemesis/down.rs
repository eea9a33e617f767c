//! Nodes that a fault took down, as a guard whose drop starts them again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Controls, Ending, NotInstalled};
use crate::{
    cluster::{ClusterError, NodeId, NodeState},
    fault::Active,
    process::Exit,
    target::BoxFuture,
};

/// Keeps nodes down. [`Down::revive`] starts them and waits; a drop only starts them.
pub struct Down {
    controls: Controls,
    nodes: Vec<(NodeId, Option<Exit>)>,
}

impl Down {
    /// Nobody is down yet.
    #[must_use]
    pub fn new(controls: &Controls) -> Self {
        Self { controls: controls.clone(), nodes: Vec::new() }
    }

    /// Takes over a node that was ended, with its wait status where it ended in time.
    pub fn add(&mut self, node: NodeId, exit: Option<Exit>) {
        self.nodes.push((node, exit));
    }

    /// Whether every node ended, and each as `wanted`.
    #[must_use]
    pub fn all_ended(&self, wanted: impl Fn(Exit) -> bool) -> bool {
        self.nodes.iter().all(|(_, exit)| exit.is_some_and(&wanted))
    }

    /// Who is down and how each ended.
    #[must_use]
    pub fn describe(&self) -> Value {
        let nodes: Vec<NodeId> = self.nodes.iter().map(|(node, _)| *node).collect();
        let exits = self.nodes.iter().map(|(node, exit)| {
            (node.to_string(), exit.map_or("none".to_owned(), |exit| exit.to_string()))
        });
        json!({"nodes": nodes, "exits": exits.collect::<BTreeMap<_, _>>()})
    }

    /// Starts those that are still down, all at once, and waits until they serve.
    ///
    /// # Errors
    /// When one cannot be started or does not serve.
    pub async fn revive(mut self) -> Result<(), NotInstalled> {
        let mut waiting = Vec::new();
        for (node, _) in std::mem::take(&mut self.nodes) {
            if self.controls.cluster.state(node) == NodeState::Down {
                let controls = self.controls.clone();
                waiting.push(tokio::spawn(async move { controls.start(node).await }));
            }
        }
        let mut failed: Option<ClusterError> = None;
        for start in waiting {
            let started = start.await.map_err(|error| NotInstalled::Harness(error.to_string()))?;
            // That a node does not come to serve must not hide a failure of ours.
            failed = match (failed, started.err()) {
                (Some(first), Some(next)) if first.is_the_targets() => {
                    Some(if next.is_the_targets() { first } else { next })
                }
                (first, next) => first.or(next),
            };
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        for (node, _) in &self.nodes {
            match self.controls.cluster.launch(*node) {
                Ok(_) | Err(ClusterError::Up(_) | ClusterError::Closed(_)) => {}
                Err(error) => crate::stderr::line(format_args!("highwater: {error}")),
            }
        }
    }
}

/// Nodes that were ended: the fault in force while they are down.
pub struct Ended {
    /// The nodes.
    pub down: Down,
    /// Why nothing proves that they ended as they should have; `None` when the exits prove it.
    pub doubt: Option<String>,
}

impl Ended {
    /// How the fault ends.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match &self.doubt {
            None => Ending::Installed { proof: self.down.describe() },
            Some(reason) => Ending::Indeterminate { reason: reason.clone() },
        }
    }

    /// Starts the nodes again and says how the fault ended. That one does not come back takes
    /// nothing from the proof that it ended: recovery will miss it.
    ///
    /// # Errors
    /// When the harness itself cannot start one.
    pub async fn revive(self) -> Result<Ending, NotInstalled> {
        let mut ending = self.ending();
        match (self.down.revive().await, &mut ending) {
            (Ok(()), _) => {}
            (Err(NotInstalled::Indeterminate(why)), Ending::Installed { proof }) => {
                proof["not_back"] = json!(why);
            }
            (Err(NotInstalled::Indeterminate(_)), _) => {}
            (Err(error), _) => return Err(error),
        }
        Ok(ending)
    }
}

impl Active for Ended {
    fn describe(&self) -> Value {
        self.down.describe()
    }

    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move { self.revive().await })
    }
}
