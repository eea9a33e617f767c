//! Which pids are which nodes: what the proxies ask when they look up who calls.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::cluster::NodeId;

/// The running processes of the cluster, shared by the process runner and the proxies.
#[derive(Debug, Default)]
pub struct KnownPids(Mutex<BTreeMap<i32, NodeId>>);

impl KnownPids {
    /// Says that `pid` is `node` from now on.
    pub fn add(&self, pid: i32, node: NodeId) {
        self.lock().insert(pid, node);
    }

    /// Says that `pid` has ended.
    pub fn remove(&self, pid: i32) {
        self.lock().remove(&pid);
    }

    /// All of them, for a search through their open files.
    #[must_use]
    pub fn all(&self) -> Vec<(i32, NodeId)> {
        self.lock().iter().map(|(pid, node)| (*pid, *node)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i32, NodeId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
