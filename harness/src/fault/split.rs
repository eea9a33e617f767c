//! Splits the cluster into two sides that do not hear each other; clients reach both.

use serde::Deserialize;

use super::{Entry, OnLinks, read};
use crate::{
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
    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let mut side = aimer.nodes(&self.side)?;
        let plan = aimer.plan();
        if self.with_controllers {
            side.extend(plan.controllers().map(|node| node.id));
        }
        let (from, to) = plan.nodes.keys().partition::<Vec<_>, _>(|node| side.contains(node));
        let ends = |nodes: Vec<_>| nodes.into_iter().copied().map(Endpoint::Node).collect();
        let (ways, action) = (Ways::Both, Action::Cut);
        Ok(Stretch { from: ends(from), to: ends(to), ways, action, discard: false })
    }
}
