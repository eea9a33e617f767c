//! Stops nodes with SIGTERM, a controlled shutdown; healing starts them again.

use std::time::Duration;

use serde::Deserialize;

use super::{Entry, Scene, Strike, Struck, needs_processes, read};
use crate::nemesis::{Aim, Aimer, Controls, PATIENCE_MS, Rng, stop_nodes};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Stop>("stop", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// How long a node may take; then it is killed and the fault is indeterminate.
    #[serde(default = "patience_ms")]
    patience_ms: u64,
}

fn patience_ms() -> u64 {
    PATIENCE_MS
}

impl Strike for Stop {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_processes(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        let patience = Duration::from_millis(self.patience_ms);
        Ok(Box::new(stop_nodes(controls, &nodes, patience).await?))
    }
}
