//! The disks of a cluster's nodes, watched by the shim.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    DiskError, LIBRARY, Lever, LeverGuard, Loss, Survives, layout::Slot, node_disk::NodeDisk,
};
use crate::cluster::{NodeId, NodePlan};

/// The shim, and what it is told.
#[derive(Debug)]
pub struct Disks {
    library: PathBuf,
    /// Each lever of a node has one hand on it.
    held: Mutex<BTreeSet<(NodeId, Lever)>>,
}

/// A node with the folders that hold its partitions.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    /// The node.
    pub node: &'a NodePlan,
    /// Its log directories.
    pub roots: Vec<PathBuf>,
}

impl Place<'_> {
    fn disk(&self) -> NodeDisk {
        NodeDisk::of(self.node, self.roots.clone())
    }

    /// Takes away all that is in the log directories; nothing of the node may run.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wipe(&self) -> Result<Loss, DiskError> {
        self.disk().wipe()
    }
}

impl Disks {
    /// The disks of nodes that load this library.
    #[must_use]
    pub fn new(library: PathBuf) -> Arc<Disks> {
        Arc::new(Disks { library, held: Mutex::default() })
    }

    /// What the node's process is told by its environment.
    #[must_use]
    pub fn environment(&self, place: &Place<'_>) -> Vec<(String, String)> {
        place.disk().environment(&self.library)
    }

    /// Begins a node's journal: what its log directories hold now counts as durable.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(&self, place: &Place<'_>) -> Result<(), DiskError> {
        place.disk().begin()
    }

    /// Whether the node has loaded the library.
    ///
    /// # Errors
    /// [`DiskError::NotLoaded`] when it has not.
    pub fn check_loaded(&self, place: &Place<'_>) -> Result<(), DiskError> {
        let (node, control) = (place.node.id, place.disk().control());
        let attached = control.get(Slot::Attached).map_err(DiskError::at(control.path()))?;
        let not_loaded = DiskError::NotLoaded { node, library: LIBRARY };
        if attached == 0 { Err(not_loaded) } else { Ok(()) }
    }

    /// Takes away what a node that runs no more did not make durable, by what its journal says.
    ///
    /// # Errors
    /// When the journal does not say all, or the system refuses.
    pub fn lose_power(
        &self,
        place: &Place<'_>,
        survives: Survives,
        seed: u64,
    ) -> Result<Loss, DiskError> {
        let (node, disk) = (place.node.id, place.disk());
        let control = disk.control();
        match control.get(Slot::LinesLost).map_err(DiskError::at(control.path()))? {
            0 => disk.lose_power(survives, seed),
            lines => Err(DiskError::LinesLost { node, lines }),
        }
    }

    /// Sets a lever of a node to `number` until the guard is dropped.
    ///
    /// # Errors
    /// [`DiskError::Held`] when another fault has it; or when the system refuses.
    pub fn pull(
        self: &Arc<Self>,
        place: &Place<'_>,
        lever: Lever,
        number: u64,
    ) -> Result<LeverGuard, DiskError> {
        let (node, control) = (place.node.id, place.disk().control());
        let counted = control.get(lever.counter()).map_err(DiskError::at(control.path()))?;
        if !self.held().insert((node, lever)) {
            return Err(DiskError::Held { node });
        }
        let guard = LeverGuard { disks: Arc::clone(self), control, node, lever, counted };
        let path = guard.control.path();
        guard.control.set(lever.slot(), number).map_err(DiskError::at(path))?;
        Ok(guard)
    }

    pub(super) fn let_go(&self, node: NodeId, lever: Lever) {
        self.held().remove(&(node, lever));
    }

    fn held(&self) -> MutexGuard<'_, BTreeSet<(NodeId, Lever)>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
