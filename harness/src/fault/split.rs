//! Splits the cluster into two sides that do not hear each other; clients reach both.

use serde::Deserialize;

use super::{Active, Entry, Fault, Scene, needs_proxies, read};
use crate::{
    cluster::NodeId,
    nemesis::{Aim, Aimer, Controls, LinkFault, NotInstalled, Rng, Role, Ways},
    proxy::{Action, Endpoint},
    target::BoxFuture,
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

impl Fault for Split {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_proxies(scene)
    }

    fn install<'a>(
        &'a self,
        controls: &'a Controls,
        mut rng: Rng,
    ) -> BoxFuture<'a, Result<Box<dyn Active>, NotInstalled>> {
        Box::pin(async move {
            let mut side = Aimer::new(controls, &mut rng).nodes(&self.side)?;
            let plan = controls.cluster.plan();
            if self.with_controllers {
                side.extend(plan.controllers().map(|node| node.id));
            }
            let ends = |inside: bool| -> Vec<Endpoint> {
                let ids = plan.nodes.keys().copied();
                let chosen: Vec<NodeId> =
                    ids.filter(|node| side.contains(node) == inside).collect();
                chosen.into_iter().map(Endpoint::Node).collect()
            };
            let (from, to) = (ends(true), ends(false));
            let cut = LinkFault::install(controls, &from, &to, Ways::Both, Action::Cut)?;
            Ok(Box::new(cut) as Box<dyn Active>)
        })
    }
}
