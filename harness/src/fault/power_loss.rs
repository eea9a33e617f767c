//! Takes the power from nodes: their files lose what was not synced; healing starts them again.

use rand::Rng as _;
use serde::Deserialize;

use super::{Entry, Scene, Strike, Struck, needs_shim, read};
use crate::{
    disk::Survives,
    nemesis::{Aim, Aimer, Controls, LostData, Rng, kill_nodes},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<PowerLoss>("power-loss", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerLoss {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// What survives of that which was not synced.
    #[serde(default)]
    survives: Survives,
}

impl Strike for PowerLoss {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_shim(scene)
    }

    fn needs_disks(&self) -> bool {
        true
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        controls.check_shim(&nodes)?;
        let mut lost = LostData::of(kill_nodes(controls, &nodes).await?);
        for node in nodes {
            let loss = controls.cluster.lose_power(node, self.survives, rng.next_u64()).await?;
            lost.add(node, loss);
        }
        Ok(Box::new(lost))
    }
}
