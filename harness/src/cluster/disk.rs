//! The nodes' disks: watched where the shim is preloaded, cut by a power loss, wiped.

use std::{path::PathBuf, sync::Arc};

use tokio::task::spawn_blocking;

use super::{Cluster, ClusterError, NodeId, NodePlan};
use crate::{
    disk::{DiskError, Disks, Loss, Place, Survives},
    target::Command,
};

impl Cluster {
    /// The shim that is preloaded into this cluster's nodes, if it is.
    #[must_use]
    pub fn disks(&self) -> Option<&Arc<Disks>> {
        self.disks.as_ref()
    }

    /// A node and its log directories.
    ///
    /// # Errors
    /// When the plan has no such node.
    pub fn disk_of(&self, node: NodeId) -> Result<Place<'_>, ClusterError> {
        let node = self.plan_of(node)?;
        Ok(Place { node, roots: self.target().log_dirs(node) })
    }

    /// Takes from a node that is down what it did not make durable.
    ///
    /// # Errors
    /// When it is not known what that is, or the system refuses.
    pub async fn lose_power(
        self: &Arc<Self>,
        node: NodeId,
        survives: Survives,
        seed: u64,
    ) -> Result<Loss, ClusterError> {
        let lose = move |cluster: &Cluster| {
            let disks = cluster.disks().expect("faults ask for disks before they act");
            Ok(disks.lose_power(&cluster.disk_of(node)?, survives, seed)?)
        };
        self.on_disk(lose).await
    }

    /// Empties the log directories of a node that is down, and prepares them as for a first start.
    ///
    /// # Errors
    /// When the system refuses or the target cannot prepare the node.
    pub async fn wipe(self: &Arc<Self>, node: NodeId) -> Result<Loss, ClusterError> {
        let loss = self.on_disk(move |cluster| Ok(cluster.disk_of(node)?.wipe()?)).await?;
        self.prepare_node(node).await?;
        Ok(loss)
    }

    async fn on_disk<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&Cluster) -> Result<T, ClusterError> + Send + 'static,
    ) -> Result<T, ClusterError> {
        let cluster = Arc::clone(self);
        spawn_blocking(move || act(&cluster)).await.expect("work on a disk does not panic")
    }

    /// Writes a node's configuration and makes its directories; what they hold then is durable.
    pub(super) async fn prepare_node(&self, node: NodeId) -> Result<(), ClusterError> {
        let node = self.plan_of(node)?;
        self.target().prepare(&self.plan, node).await?;
        if let Some(disks) = self.disks() {
            for root in self.target().log_dirs(node) {
                make(root)?;
            }
            disks.begin(&self.disk_of(node.id)?)?;
        }
        Ok(())
    }

    /// The program that is the node, with the shim where it is preloaded.
    pub(super) fn command(&self, node: &NodePlan) -> Command {
        let mut command = self.target().command(&self.plan, node);
        if let Some(disks) = self.disks() {
            let place = Place { node, roots: self.target().log_dirs(node) };
            command.environment.extend(disks.environment(&place));
        }
        command
    }
}

fn make(root: PathBuf) -> Result<(), DiskError> {
    std::fs::create_dir_all(&root).map_err(|source| DiskError::File { path: root, source })
}
