//! The file through which a running node's shim is told what to do, and says what it did.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    Disks,
    layout::{SLOTS, Slot},
};
use crate::cluster::NodeId;

/// A number takes so many bytes.
const WIDTH: u64 = 8;

/// A node's control file. The shim maps it: what is written here acts at once.
#[derive(Debug, Clone)]
pub(super) struct Control(PathBuf);

impl Control {
    pub(super) fn at(path: &Path) -> Control {
        Control(path.to_owned())
    }

    /// Makes it, or makes every number 0.
    pub(super) fn reset(&self) -> io::Result<()> {
        fs::write(&self.0, [0; SLOTS * WIDTH as usize])
    }

    pub(super) fn get(&self, slot: Slot) -> io::Result<u64> {
        let mut bytes = [0; WIDTH as usize];
        File::open(&self.0)?.read_exact_at(&mut bytes, slot as u64 * WIDTH)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    pub(super) fn set(&self, slot: Slot, number: u64) -> io::Result<()> {
        let file = File::options().write(true).open(&self.0)?;
        file.write_all_at(&number.to_ne_bytes(), slot as u64 * WIDTH)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

/// What can be done to the calls of a running node to its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lever {
    /// Writes wait, so many microseconds.
    SlowWrites,
    /// Syncs wait, so many microseconds.
    SlowSyncs,
    /// Writes fail with this error number.
    FailingWrites,
    /// Syncs fail with this error number.
    FailingSyncs,
}

impl Lever {
    pub(super) fn slot(self) -> Slot {
        match self {
            Self::SlowWrites => Slot::WriteDelay,
            Self::SlowSyncs => Slot::SyncDelay,
            Self::FailingWrites => Slot::WriteError,
            Self::FailingSyncs => Slot::SyncError,
        }
    }

    /// What counts the calls that it hit.
    pub(super) fn counter(self) -> Slot {
        match self {
            Self::SlowWrites => Slot::WritesDelayed,
            Self::SlowSyncs => Slot::SyncsDelayed,
            Self::FailingWrites => Slot::WritesRefused,
            Self::FailingSyncs => Slot::SyncsRefused,
        }
    }
}

/// A lever that is pulled at one node; dropping it lets go.
#[derive(Debug)]
pub struct LeverGuard {
    pub(super) disks: Arc<Disks>,
    pub(super) control: Control,
    pub(super) node: NodeId,
    pub(super) lever: Lever,
    pub(super) counted: u64,
}

impl LeverGuard {
    /// The node.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The lever.
    #[must_use]
    pub fn lever(&self) -> Lever {
        self.lever
    }

    /// How many calls it has hit; 0 also when nobody can say.
    #[must_use]
    pub fn hits(&self) -> u64 {
        let now = self.control.get(self.lever.counter());
        now.map_or(0, |now| now.saturating_sub(self.counted))
    }
}

impl Drop for LeverGuard {
    fn drop(&mut self) {
        if let Err(error) = self.control.set(self.lever.slot(), 0) {
            let path = self.control.path().display();
            crate::stderr::line(format_args!("highwater: {path}: {error}"));
        }
        self.disks.let_go(self.node, self.lever);
    }
}
