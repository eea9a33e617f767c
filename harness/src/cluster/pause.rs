//! A paused node, as a guard whose drop resumes it.

use std::{sync::Arc, time::Duration};

use tokio::time;

use super::{Cluster, NodeId};
use crate::{
    journal::ActId,
    process::{OsProcess, Signal},
};

/// How long SIGSTOP may take to show in /proc.
const STOP_WITHIN: Duration = Duration::from_secs(2);

/// Keeps a node paused; dropping it resumes the node.
#[derive(Debug)]
pub struct PauseGuard {
    cluster: Arc<Cluster>,
    node: NodeId,
    process: OsProcess,
    act: ActId,
}

impl PauseGuard {
    pub(super) fn new(cluster: Arc<Cluster>, node: NodeId, process: OsProcess, act: ActId) -> Self {
        Self { cluster, node, process, act }
    }

    /// The paused node.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The paused process.
    #[must_use]
    pub fn process(&self) -> OsProcess {
        self.process
    }

    /// Waits until /proc shows the process stopped; `false` when it does not within 2 s.
    pub async fn took_hold(&self) -> bool {
        let stopped = async {
            while !self.process.stopped() {
                time::sleep(Duration::from_millis(1)).await;
            }
        };
        time::timeout(STOP_WITHIN, stopped).await.is_ok()
    }
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        let ours = {
            let mut slots = self.cluster.lock();
            let slot = slots.get_mut(&self.node).filter(|slot| slot.paused == Some(self.act));
            slot.and_then(|slot| slot.paused.take()).is_some()
        };
        // A process that ended meanwhile took its pause with it.
        let resumed = self.process.signal_group(Signal::CONT);
        if ours && (resumed.is_err() || self.cluster.journal.end(self.act).is_err()) {
            crate::stderr::line(format_args!(
                "highwater: node {} could not be resumed for certain",
                self.node
            ));
        }
    }
}
