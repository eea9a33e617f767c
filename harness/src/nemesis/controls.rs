//! The narrow set of controls that faults act through.

use std::{sync::Arc, time::Duration};

use highwater_workloads::driver::Crasher;
use serde_json::Value;
use tokio::sync::watch;

use super::ClusterView;
use crate::{
    cluster::{Cluster, ClusterError, NodeId, NodeState},
    direct::{Direct, DirectError},
    proxy::ProxyNet,
    target::BoxFuture,
};

/// The random numbers of one fault: a named sub-stream of the run's seed.
pub type Rng = rand_chacha::ChaCha12Rng;

/// What the run engine does around faults.
pub trait Hooks: Send + Sync {
    /// Records a nemesis event now: its name and value.
    fn note(&self, f: &str, value: Value);

    /// Runs before a node that was down is started again: its logs are dumped.
    fn before_start<'a>(&'a self, node: NodeId) -> BoxFuture<'a, ()>;

    /// Runs before a cut or pause around these nodes is healed: their logs are dumped.
    fn before_heal<'a>(&'a self, nodes: &'a [NodeId]) -> BoxFuture<'a, ()>;
}

/// Hooks that do nothing: for tests and for faults by hand.
#[derive(Debug, Clone, Copy)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn note(&self, _f: &str, _value: Value) {}

    fn before_start<'a>(&'a self, _node: NodeId) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn before_heal<'a>(&'a self, _nodes: &'a [NodeId]) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }
}

/// What faults act through. Cheap to clone.
#[derive(Clone)]
pub struct Controls {
    /// The processes.
    pub cluster: Arc<Cluster>,
    /// The links.
    pub net: Arc<ProxyNet>,
    /// What was last observed; the engine keeps it fresh.
    pub view: watch::Receiver<Arc<ClusterView>>,
    /// What the engine does around faults.
    pub hooks: Arc<dyn Hooks>,
    /// The clients; none where faults act by hand.
    pub clients: Option<Crasher>,
}

/// Waits for a new sight of the cluster, at most `patience`.
pub async fn next_sight(view: &mut watch::Receiver<Arc<ClusterView>>, patience: Duration) {
    let changed = tokio::time::timeout(patience, view.changed()).await;
    if matches!(changed, Ok(Err(_))) {
        // Nobody looks any more: only time goes on.
        tokio::time::sleep(patience).await;
    }
}

impl Controls {
    /// What was last observed.
    #[must_use]
    pub fn view(&self) -> Arc<ClusterView> {
        Arc::clone(&self.view.borrow())
    }

    /// Waits until the observed cluster is as `wanted`, at most `patience`; `None` when it is not.
    pub async fn sight(
        &self,
        patience: Duration,
        mut wanted: impl FnMut(&ClusterView) -> bool,
    ) -> Option<Arc<ClusterView>> {
        let mut view = self.view.clone();
        let seen = tokio::time::timeout(patience, view.wait_for(|view| wanted(view))).await;
        seen.ok()?.ok().map(|view| Arc::clone(&view))
    }

    /// Connects to a broker that runs, past its proxy.
    ///
    /// # Errors
    /// When the connection is not made within `patience`.
    pub async fn ask_a_broker(&self, patience: Duration) -> Result<Direct, DirectError> {
        let brokers = self.cluster.plan().direct();
        let runs = |node: &NodeId| self.cluster.state(*node) == NodeState::Running;
        let running = brokers.iter().find(|(node, _)| runs(node)).or(brokers.iter().next());
        let (_, address) = running.expect("a cluster has a broker");
        Direct::connect(*address, patience).await
    }

    /// Starts a node that is down, after its logs were dumped.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub async fn start(&self, node: NodeId) -> Result<(), ClusterError> {
        self.hooks.before_start(node).await;
        self.cluster.start(node).await
    }

    /// Starts every node that is down; gives those that do not come back, and why.
    ///
    /// # Errors
    /// When the harness itself cannot start one.
    pub async fn bring_up(&self) -> Result<Vec<(NodeId, String)>, ClusterError> {
        let mut gone = Vec::new();
        for (node, state) in self.cluster.states() {
            if state != NodeState::Down {
                continue;
            }
            match self.start(node).await {
                Ok(()) => {}
                Err(error) if error.is_the_targets() => gone.push((node, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(gone)
    }
}
