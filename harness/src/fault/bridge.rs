//! Cuts the cluster in two halves that only one node joins; clients reach all.

use serde::Deserialize;

use super::{Entry, OnLinks, read};
use crate::{
    cluster::NodeId,
    nemesis::{Aim, Aimer, NotInstalled, Stretch, Ways},
    proxy::{Action, Endpoint},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Bridge>("bridge", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bridge {
    /// Whom both halves reach; all other nodes, controllers too, are drawn into the halves.
    #[serde(default = "Aim::one")]
    over: Aim,
}

impl OnLinks for Bridge {
    fn makes_sense(&self) -> Result<(), String> {
        Ok(())
    }

    fn stretch(&self, aimer: &mut Aimer<'_>) -> Result<Stretch, NotInstalled> {
        let over = aimer.nodes(&self.over)?;
        let mut others = aimer.in_any_order();
        others.retain(|node| !over.contains(node));
        let (here, there) = others.split_at(others.len() / 2);
        let ends = |nodes: &[NodeId]| nodes.iter().copied().map(Endpoint::Node).collect();
        let (ways, action) = (Ways::Both, Action::Cut);
        Ok(Stretch { from: ends(here), to: ends(there), ways, action, discard: false })
    }
}
