//! Refuses writes, or syncs, of nodes to their log directories; a node may end of it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, disturb, needs_shim, read};
use crate::{
    disk::Lever,
    nemesis::{Aim, Controls, Rng},
};

/// The plug-in.
pub const ENTRY: Entry = Entry { parse: |parameters| read::<DiskError>("disk-error", parameters) };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiskError {
    /// Whose.
    #[serde(default = "Aim::one")]
    aim: Aim,
    /// By which error.
    #[serde(default)]
    error: Errno,
    /// Which calls.
    #[serde(default)]
    on: Calls,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
enum Errno {
    /// The device failed.
    #[default]
    #[serde(rename = "EIO")]
    Io,
    /// There is no room.
    #[serde(rename = "ENOSPC")]
    NoSpace,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Calls {
    #[default]
    Write,
    Fsync,
}

impl Errno {
    fn number(self) -> u64 {
        let errno = match self {
            Self::Io => nix::errno::Errno::EIO,
            Self::NoSpace => nix::errno::Errno::ENOSPC,
        };
        errno as u64
    }
}

impl Strike for DiskError {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        needs_shim(scene)
    }

    fn needs_disks(&self) -> bool {
        true
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let lever = match self.on {
            Calls::Write => Lever::FailingWrites,
            Calls::Fsync => Lever::FailingSyncs,
        };
        let what = json!({"error": self.error, "on": self.on});
        disturb(&self.aim, &[(lever, self.error.number())], what, (controls, &mut rng)).await
    }
}
