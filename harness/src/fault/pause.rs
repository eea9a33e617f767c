//! Pauses nodes with SIGSTOP; healing resumes them with SIGCONT.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Active, Entry, Scene, Strike, Struck, needs_processes, read};
use crate::{
    cluster::{NodeId, PauseGuard},
    direct::serves,
    nemesis::{Aim, Aimer, Controls, Ending, NotInstalled, Rng},
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Pause>("pause", parameters) };

/// A running node answers far sooner; a paused one never.
const PROBE_WITHIN: Duration = Duration::from_millis(200);
/// How long a resumed node may take until it answers again.
const RESUMED_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pause {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
}

impl Strike for Pause {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_processes(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        let mut paused = Paused { controls: controls.clone(), guards: Vec::new(), doubt: None };
        for node in nodes {
            paused.guards.push(controls.cluster.pause(node).await?);
        }
        paused.doubt = paused.check().await;
        Ok(Box::new(paused))
    }
}

struct Paused {
    controls: Controls,
    guards: Vec<PauseGuard>,
    doubt: Option<String>,
}

impl Paused {
    fn nodes(&self) -> Vec<NodeId> {
        self.guards.iter().map(PauseGuard::node).collect()
    }

    /// State T, and a probe without an answer.
    async fn check(&self) -> Option<String> {
        for guard in &self.guards {
            let node = guard.node();
            if !guard.took_hold().await {
                return Some(format!("node {node} is not in state T after SIGSTOP"));
            }
            if self.answers(node, PROBE_WITHIN).await {
                return Some(format!("node {node} answered while it was paused"));
            }
        }
        None
    }

    async fn answers(&self, node: NodeId, within: Duration) -> bool {
        let plan = self.controls.cluster.plan();
        let place = plan.nodes.get(&node).and_then(|node| node.listeners.values().next());
        match place {
            Some(place) => serves(place.real, within).await,
            None => false,
        }
    }
}

impl Active for Paused {
    fn describe(&self) -> Value {
        let pids: Vec<i32> = self.guards.iter().map(|guard| guard.process().pid).collect();
        json!({"nodes": self.nodes(), "pids": pids})
    }

    fn heal(mut self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let nodes = self.nodes();
            self.controls.hooks.before_heal(&nodes).await;
            let ending = match self.doubt.take() {
                Some(reason) => Ending::Indeterminate { reason },
                None => {
                    let mut proof = self.describe();
                    proof["state"] = json!("T");
                    proof["unanswered_probes"] = json!(nodes.len());
                    Ending::Installed { proof }
                }
            };
            self.guards.clear();
            for node in nodes {
                // A node that died while it was paused is found by whoever looks at crashes.
                let _served = self.answers(node, RESUMED_WITHIN).await;
            }
            Ok(ending)
        })
    }
}
