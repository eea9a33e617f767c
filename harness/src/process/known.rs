//! Which pids are which nodes: what the proxies ask when they look up who calls.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use crate::cluster::NodeId;

/// The running processes of the cluster, shared by the process runner and the proxies.
#[derive(Debug, Default)]
pub struct KnownPids(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    nodes: BTreeMap<i32, NodeId>,
    watchers: Vec<mpsc::UnboundedSender<i32>>,
}

impl KnownPids {
    /// Says that `pid` is `node` from now on.
    pub fn add(&self, pid: i32, node: NodeId) {
        self.lock().nodes.insert(pid, node);
    }

    /// Says that `pid` has ended.
    pub fn remove(&self, pid: i32) {
        let mut known = self.lock();
        known.nodes.remove(&pid);
        known.watchers.retain(|watcher| watcher.send(pid).is_ok());
    }

    /// Tells every pid that ends from now on.
    #[must_use]
    pub fn ended(&self) -> mpsc::UnboundedReceiver<i32> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().watchers.push(sender);
        receiver
    }

    /// All of them, for a search through their open files.
    #[must_use]
    pub fn all(&self) -> Vec<(i32, NodeId)> {
        self.lock().nodes.iter().map(|(pid, node)| (*pid, *node)).collect()
    }

    /// Whether `pid` is a node that has not ended.
    #[must_use]
    pub fn knows(&self, pid: i32) -> bool {
        self.lock().nodes.contains_key(&pid)
    }

    /// The pid of a node that is up.
    #[must_use]
    pub fn of(&self, node: NodeId) -> Option<i32> {
        self.all().into_iter().find(|(_, known)| *known == node).map(|(pid, _)| pid)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
