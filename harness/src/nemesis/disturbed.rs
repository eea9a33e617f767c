//! Disks that are slow or refuse calls: the fault in force until the levers are let go.

use serde_json::{Value, json};

use super::{Controls, Down, Ending, NotInstalled};
use crate::{
    cluster::{ClusterError, NodeId, NodeState},
    disk::{Lever, LeverGuard},
    fault::Active,
    target::BoxFuture,
};

/// Levers that are pulled. Dropping it lets go.
pub struct Disturbed {
    controls: Controls,
    guards: Vec<LeverGuard>,
    nodes: Vec<NodeId>,
    what: Value,
}

impl Controls {
    /// Whether the nodes have loaded the shim.
    ///
    /// # Errors
    /// [`NotInstalled::Skipped`] when one has not.
    pub fn check_shim(&self, nodes: &[NodeId]) -> Result<(), NotInstalled> {
        let Some(disks) = self.cluster.disks() else {
            return Err(NotInstalled::Skipped("the nodes run without the shim".to_owned()));
        };
        for node in nodes {
            disks.check_loaded(&self.cluster.disk_of(*node)?).map_err(ClusterError::from)?;
        }
        Ok(())
    }
}

impl Disturbed {
    /// Pulls these levers, each to its number, at each of the nodes.
    ///
    /// # Errors
    /// [`NotInstalled::Skipped`] when a node has not loaded the shim or another fault has a lever.
    pub fn begin(
        controls: &Controls,
        nodes: &[NodeId],
        levers: &[(Lever, u64)],
        what: Value,
    ) -> Result<Self, NotInstalled> {
        controls.check_shim(nodes)?;
        let disks = controls.cluster.disks().expect("the nodes have loaded the shim");
        let mut guards = Vec::new();
        for node in nodes {
            let place = controls.cluster.disk_of(*node)?;
            for (lever, number) in levers {
                let guard = disks.pull(&place, *lever, *number).map_err(ClusterError::from)?;
                guards.push(guard);
            }
        }
        Ok(Self { controls: controls.clone(), guards, nodes: nodes.to_vec(), what })
    }

    fn ending(&self) -> Ending {
        if !self.acted() {
            let reason = format!("no call of node {} to its disk was hit", list(&self.nodes));
            return Ending::Indeterminate { reason };
        }
        let mut proof = json!({});
        for guard in &self.guards {
            proof[guard.node().to_string()][json!(guard.lever()).as_str().unwrap_or_default()] =
                json!(guard.hits());
        }
        Ending::Installed { proof }
    }
}

impl Active for Disturbed {
    fn describe(&self) -> Value {
        self.what.clone()
    }

    fn acted(&self) -> bool {
        self.guards.iter().any(|guard| guard.hits() > 0)
    }

    /// A node may have ended of it, as is its right: it is started again.
    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let mut ending = self.ending();
            let Self { controls, guards, nodes, .. } = *self;
            drop(guards);
            let mut down = Down::new(&controls);
            let ended = |node: &&NodeId| controls.cluster.state(**node) == NodeState::Down;
            let ended: Vec<NodeId> = nodes.iter().filter(ended).copied().collect();
            ended.iter().for_each(|node| down.add(*node, None));
            let revived = down.revive().await;
            if let Ending::Installed { proof } = &mut ending {
                proof["ended"] = json!(ended);
            }
            match (revived, &mut ending) {
                (Err(NotInstalled::Harness(why)), _) => return Err(NotInstalled::Harness(why)),
                (Err(error), Ending::Installed { proof }) => {
                    proof["not_back"] = json!(error.to_string());
                }
                _ => {}
            }
            Ok(ending)
        })
    }
}

fn list(nodes: &[NodeId]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
