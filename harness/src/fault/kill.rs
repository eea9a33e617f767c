//! Kills nodes with SIGKILL; healing starts them again.

use serde::Deserialize;

use super::{Entry, Scene, Strike, Struck, needs_processes, read};
use crate::nemesis::{Aim, Aimer, Controls, Rng, kill_nodes};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Kill>("kill", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kill {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
}

impl Strike for Kill {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_processes(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        Ok(Box::new(kill_nodes(controls, &nodes).await?))
    }
}
