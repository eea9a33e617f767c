//! Ends nodes and starts them again after a while, as one step.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, needs_processes, read};
use crate::nemesis::{Aim, Aimer, Controls, Done, How, Rng};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<Restart>("restart", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Restart {
    /// Whom.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// By force or in order.
    #[serde(default)]
    how: How,
    /// How long they stay down.
    #[serde(default)]
    down_ms: u64,
}

impl Strike for Restart {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_processes(scene)
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let nodes = Aimer::new(controls, &mut rng).nodes(&self.aim)?;
        let ended = self.how.end(controls, &nodes).await?;
        tokio::time::sleep(Duration::from_millis(self.down_ms)).await;
        let what = ended.down.describe();
        let ending = ended.revive().await?;
        controls.hooks.note("start", json!({"nodes": nodes}));
        Ok(Box::new(Done { what, ending }))
    }
}
