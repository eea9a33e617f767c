//! Makes each sync, or each write, of nodes to their log directories wait.

use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, disturb, needs_shim, read};
use crate::{
    disk::Lever,
    nemesis::{Aim, Controls, Rng},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<SlowDisk>("slow-disk", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SlowDisk {
    /// Whose.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// How long each sync waits.
    #[serde(default)]
    fsync_ms: u64,
    /// How long each write waits.
    #[serde(default)]
    write_ms: u64,
}

impl Strike for SlowDisk {
    fn makes_sense(&self) -> Result<(), String> {
        match (self.fsync_ms, self.write_ms) {
            (0, 0) => Err("it makes nothing wait: give fsync_ms or write_ms".to_owned()),
            _ => Ok(()),
        }
    }

    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_shim(scene)
    }

    fn needs_disks(&self) -> bool {
        true
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let waits = [(Lever::SlowSyncs, self.fsync_ms), (Lever::SlowWrites, self.write_ms)];
        let levers = waits.into_iter().filter(|(_, ms)| *ms > 0);
        let levers: Vec<(Lever, u64)> =
            levers.map(|(lever, ms)| (lever, ms.saturating_mul(1_000))).collect();
        let what = json!({"fsync_ms": self.fsync_ms, "write_ms": self.write_ms});
        disturb(&self.aim, &levers, what, (controls, &mut rng)).await
    }
}
