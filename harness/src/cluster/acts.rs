//! What can be done to running nodes: kill, stop, pause.

use std::{sync::Arc, time::Duration};

use highwater_history::journal::Act;
use tokio::time;

use super::{Cluster, ClusterError, NodeId, NodeState, PauseGuard, running::name};
use crate::process::{Exit, ExitWatch, OsProcess, Signal};

impl Cluster {
    /// Kills a node with SIGKILL, also a paused one, and returns its wait status.
    ///
    /// # Errors
    /// When it is down or the signal is refused.
    pub async fn kill(&self, node: NodeId) -> Result<Exit, ClusterError> {
        let mut exit = self.ask_to_end(node, Signal::KILL)?;
        Ok(exit.wait().await)
    }

    /// Kills nodes with SIGKILL at the same instant, also paused ones: how each ended, or why it
    /// was not killed.
    pub async fn kill_together(
        &self,
        nodes: &[NodeId],
    ) -> Vec<(NodeId, Result<Exit, ClusterError>)> {
        let asked = nodes.iter().map(|node| (*node, self.ask_to_end(*node, Signal::KILL)));
        let mut ended = Vec::new();
        for (node, exit) in asked.collect::<Vec<_>>() {
            let exit = match exit {
                Ok(mut exit) => Ok(exit.wait().await),
                Err(error) => Err(error),
            };
            ended.push((node, exit));
        }
        ended
    }

    /// Stops a node with SIGTERM, a controlled shutdown; `None` when it has not ended after
    /// `patience` (it may still).
    ///
    /// # Errors
    /// When it is down or the signal is refused.
    pub async fn stop(
        &self,
        node: NodeId,
        patience: Duration,
    ) -> Result<Option<Exit>, ClusterError> {
        let mut exit = self.ask_to_end(node, Signal::TERM)?;
        Ok(time::timeout(patience, exit.wait()).await.ok())
    }

    /// Pauses a node with SIGSTOP until the guard is dropped.
    ///
    /// # Errors
    /// When it is down or paused already, or the signal is refused.
    pub async fn pause(self: &Arc<Self>, node: NodeId) -> Result<PauseGuard, ClusterError> {
        if self.state(node) != NodeState::Running {
            return Err(ClusterError::Down(node));
        }
        let process = self.process(node).ok_or(ClusterError::Down(node))?;
        let act = self.journal.begin(Act::Pause(process.for_journal(&name(node))))?;
        let guard = PauseGuard::new(Arc::clone(self), node, process, act);
        if let Some(slot) = self.lock().get_mut(&node) {
            slot.paused = Some(act);
        }
        self.signal(node, process, Signal::STOP)?;
        Ok(guard)
    }

    /// Ends every node for good: brokers are asked first and given `patience`, what is left is
    /// killed.
    pub async fn end_all(&self, patience: Duration) {
        self.close();
        let brokers: Vec<NodeId> = self.plan.brokers().map(|node| node.id).collect();
        let mut asked = Vec::new();
        for node in brokers {
            asked.extend(self.ask_to_end(node, Signal::TERM));
        }
        let all = async {
            for exit in &mut asked {
                exit.wait().await;
            }
        };
        // Whoever is late is killed below.
        let _late = time::timeout(patience, all).await;
        self.kill_all().await;
    }

    /// Kills every node that is up and waits for the ends. None starts any more: a fault that was
    /// given up may be healing yet, and would start a node behind this pass.
    pub async fn kill_all(&self) {
        self.close();
        let nodes: Vec<NodeId> = self.plan.nodes.keys().copied().collect();
        for node in nodes {
            if let Ok(mut exit) = self.ask_to_end(node, Signal::KILL) {
                exit.wait().await;
            }
        }
    }

    fn ask_to_end(&self, node: NodeId, signal: Signal) -> Result<ExitWatch, ClusterError> {
        self.plan_of(node)?;
        let (process, exit) = {
            let mut slots = self.lock();
            let up = slots.get_mut(&node).filter(|slot| slot.exit.now().is_none());
            let slot = up.ok_or(ClusterError::Down(node))?;
            match signal {
                Signal::KILL => slot.life.asked.kill = true,
                _ => slot.life.asked.stop = true,
            }
            (slot.life.process, slot.exit.clone())
        };
        self.signal(node, process, signal)?;
        Ok(exit)
    }

    pub(super) fn signal(
        &self,
        node: NodeId,
        process: OsProcess,
        signal: Signal,
    ) -> Result<(), ClusterError> {
        match process.signal_group(signal) {
            Ok(true) => Ok(()),
            Ok(false) => Err(ClusterError::Down(node)),
            Err(source) => Err(ClusterError::Signal { node, source }),
        }
    }
}
