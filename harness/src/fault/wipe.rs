//! Empties the log directories of nodes after a kill, as a new disk is; healing starts them.

use serde::Deserialize;

use super::{Entry, Scene, Strike, Struck, needs_logs, read};
use crate::nemesis::{Aim, Aimer, Controls, LostData, Rng, kill_nodes};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Wipe>("wipe", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wipe {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
}

impl Strike for Wipe {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_logs(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        let mut lost = LostData::of(kill_nodes(controls, &nodes).await?);
        for node in nodes {
            lost.add(node, controls.cluster.wipe(node).await?);
        }
        Ok(Box::new(lost))
    }
}
