//! Splits the cluster into two sides that do not hear each other; clients reach both.

use serde::Deserialize;

use super::{Entry, OnLinks, read};
use crate::{
    cluster::{ClusterPlan, NodeId, NodePlan},
    nemesis::{Aim, Aimer, NotInstalled, Role, Stretch, Ways},
    proxy::{Action, Endpoint},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Split>("split", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Split {
    /// One side; every other node is on the other.
    #[serde(default = "minority")]
    side: Aim,
    /// Whether the controllers that are no brokers are on this side too.
    #[serde(default)]
    with_controllers: bool,
}

fn minority() -> Aim {
    Aim::Role(Role::Minority)
}

impl OnLinks for Split {
    fn makes_sense(&self) -> Result<(), String> {
        Ok(())
    }

    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let side = aimer.nodes(&self.side)?;
        let (from, to) = sides(aimer.plan(), &side, self.with_controllers);
        let ends = |nodes: Vec<NodeId>| nodes.into_iter().map(Endpoint::Node).collect();
        let (ways, action) = (Ways::Both, Action::Cut);
        Ok(Stretch { from: ends(from), to: ends(to), ways, action, discard: false })
    }
}

/// The nodes of the side, and all others. Controllers that are brokers are where their aim puts
/// them.
fn sides(
    plan: &ClusterPlan,
    side: &[NodeId],
    with_controllers: bool,
) -> (Vec<NodeId>, Vec<NodeId>) {
    let nodes = plan.nodes.values();
    let (here, there): (Vec<_>, Vec<_>) =
        nodes.partition(|node| side.contains(&node.id) || (with_controllers && !node.roles.broker));
    let ids = |nodes: Vec<&NodePlan>| nodes.into_iter().map(|node| node.id).collect();
    (ids(here), ids(there))
}

#[cfg(test)]
mod tests {
    use super::{ClusterPlan, NodeId, sides};
    use crate::{cluster::ControllerPlacement, ports::PortPool};

    #[test]
    fn only_controllers_that_are_no_brokers_join_a_side() {
        let split = |placement| {
            let folder = tempfile::TempDir::new().unwrap();
            let mut ports = PortPool::new();
            let plan = ClusterPlan::new(folder.path(), "c", 3, placement, &mut ports).unwrap();
            sides(&plan, &[NodeId(3)], true)
        };
        let nodes = |ids: &[i32]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
        let separate = split(ControllerPlacement::Separate(1));
        assert_eq!(separate, (nodes(&[3, 101]), nodes(&[1, 2])));
        assert_eq!(split(ControllerPlacement::Combined), (nodes(&[3]), nodes(&[1, 2])));
    }
}
