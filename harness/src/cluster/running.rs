//! The cluster's processes: who runs, which life it is, and what became of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use highwater_history::journal::Act;
use tokio::task::JoinSet;

use super::{Asked, ClusterError, ClusterPlan, Life, NodeId, NodePlan, NodeState, ready, warnings};
use crate::{
    disk::Disks,
    journal::{ActId, Journal},
    process::{Exit, ExitWatch, KnownPids, OsProcess, Signal, Spawn, Spawned, spawn},
    target::{Ready, Target},
};

/// The present life of a node.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) life: Life,
    pub(super) exit: ExitWatch,
    pub(super) paused: Option<ActId>,
}

/// The cluster's processes. Shared; every method may be called from any task of the runtime.
#[derive(Debug)]
pub struct Cluster {
    pub(super) plan: Arc<ClusterPlan>,
    pub(super) journal: Arc<Journal>,
    target: Arc<dyn Target>,
    pub(super) disks: Option<Arc<Disks>>,
    pids: Arc<KnownPids>,
    slots: Mutex<BTreeMap<NodeId, Slot>>,
    /// Whether no node may start any more; changed and read under the lock of the slots.
    closed: AtomicBool,
    /// Ended lives whose node was started again before their end was recorded.
    superseded: Mutex<Vec<Slot>>,
    ended: Mutex<Vec<Life>>,
}

impl Cluster {
    /// A cluster of which nothing runs yet.
    #[must_use]
    pub fn new(
        plan: Arc<ClusterPlan>,
        target: Arc<dyn Target>,
        journal: Arc<Journal>,
    ) -> Arc<Self> {
        Self::with_disks(plan, target, journal, None)
    }

    /// A cluster of which nothing runs yet, with the shim preloaded into its nodes if it is given.
    #[must_use]
    pub fn with_disks(
        plan: Arc<ClusterPlan>,
        target: Arc<dyn Target>,
        journal: Arc<Journal>,
        disks: Option<Arc<Disks>>,
    ) -> Arc<Self> {
        let pids = Arc::new(KnownPids::default());
        let (slots, closed, superseded, ended) = Default::default();
        Arc::new(Self { plan, journal, target, disks, pids, slots, closed, superseded, ended })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Arc<ClusterPlan> {
        &self.plan
    }

    /// The kind of broker.
    #[must_use]
    pub fn target(&self) -> &Arc<dyn Target> {
        &self.target
    }

    /// The heal journal.
    #[must_use]
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Which pids are nodes of this cluster.
    #[must_use]
    pub fn pids(&self) -> &Arc<KnownPids> {
        &self.pids
    }

    /// What `node` is doing.
    #[must_use]
    pub fn state(&self, node: NodeId) -> NodeState {
        match self.lock().get(&node) {
            Some(slot) if slot.exit.now().is_some() => NodeState::Down,
            Some(slot) if slot.paused.is_some() => NodeState::Paused,
            Some(_) => NodeState::Running,
            None => NodeState::Down,
        }
    }

    /// What every node of the plan is doing.
    #[must_use]
    pub fn states(&self) -> BTreeMap<NodeId, NodeState> {
        self.plan.nodes.keys().map(|node| (*node, self.state(*node))).collect()
    }

    /// The process of a node that is up; `None` when it is down.
    #[must_use]
    pub fn process(&self, node: NodeId) -> Option<OsProcess> {
        let slots = self.lock();
        let slot = slots.get(&node).filter(|slot| slot.exit.now().is_none())?;
        Some(slot.life.process)
    }

    /// Lives that ended otherwise than asked to, in the order of their ends: crashes of the target.
    #[must_use]
    pub fn crashes(&self) -> Vec<Life> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter().filter(|life| life.crashed()).cloned().collect()
    }

    /// Writes every node's configuration and makes its directories.
    ///
    /// # Errors
    /// When the target cannot prepare a node.
    ///
    /// # Panics
    /// When preparing a node does.
    pub async fn prepare(self: &Arc<Self>) -> Result<(), ClusterError> {
        let nodes: Vec<NodeId> = self.plan.nodes.keys().copied().collect();
        let mut preparing = JoinSet::new();
        for node in nodes {
            let cluster = Arc::clone(self);
            preparing.spawn(async move { cluster.prepare_node(node).await });
        }
        while let Some(prepared) = preparing.join_next().await {
            prepared.expect("preparing a node does not panic")?;
        }
        Ok(())
    }

    /// Starts `node` and waits until it serves.
    ///
    /// # Errors
    /// When it is up already, cannot be started, or ends or hangs before it serves.
    pub async fn start(self: &Arc<Self>, node: NodeId) -> Result<(), ClusterError> {
        let spawned = self.launch(node)?;
        ready::wait(self.plan_of(node)?, self.target.ready(), spawned).await
    }

    /// Starts every node that is down, controllers first, and waits until all serve. What they warn
    /// of when they start is passed on.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub async fn start_all(self: &Arc<Self>) -> Result<(), ClusterError> {
        let controllers = self.plan.controllers().map(|node| node.id);
        let brokers = self.plan.brokers().map(|node| node.id);
        let mut waiting = Vec::new();
        for node in controllers.chain(brokers) {
            if self.state(node) == NodeState::Down {
                waiting.push((node, self.launch(node)?));
            }
        }
        for (node, spawned) in waiting {
            ready::wait(self.plan_of(node)?, self.target.ready(), spawned).await?;
        }
        for warning in warnings::of(&*self.target, self.plan.nodes.values()) {
            crate::stderr::line(format_args!("highwater: warning: {warning}"));
        }
        Ok(())
    }

    /// Starts `node` without waiting for it.
    ///
    /// # Errors
    /// When it is up already, cannot be started, or the cluster was ended for good.
    pub fn launch(self: &Arc<Self>, node: NodeId) -> Result<Spawned, ClusterError> {
        let plan = self.plan_of(node)?;
        let mut slots = self.lock();
        if self.closed.load(Ordering::Relaxed) {
            return Err(ClusterError::Closed(node));
        }
        let last = slots.get(&node);
        if last.is_some_and(|slot| slot.exit.now().is_none()) {
            return Err(ClusterError::Up(node));
        }
        let incarnation = last.map_or(0, |slot| slot.life.incarnation + 1);
        let spawned = self.spawn(plan, incarnation)?;
        self.pids.add(spawned.id.pid, node);
        let asked = Asked::default();
        let life = Life { node, incarnation, process: spawned.id, exit: None, asked };
        let last = slots.insert(node, Slot { life, exit: spawned.exit.clone(), paused: None });
        // One that ended a moment ago still waits for its burial.
        if let Some(last) = last.filter(|last| last.life.exit.is_none()) {
            self.superseded().push(last);
        }
        drop(slots);
        // Between the start and this line only the marker in its environment finds the process.
        let act = self.journal.begin(Act::Process(spawned.id.for_journal(&name(node))));
        if act.is_err() {
            self.signal(node, spawned.id, Signal::KILL)?;
        }
        tokio::spawn(Arc::clone(self).bury(node, incarnation, act?, spawned.exit.clone()));
        Ok(spawned)
    }

    fn spawn(&self, plan: &NodePlan, incarnation: u32) -> Result<Spawned, ClusterError> {
        let ready_line = match self.target.ready() {
            Ready::Line(line) => Some(line),
            Ready::Protocol => None,
        };
        Ok(spawn(&Spawn {
            command: &self.command(plan),
            folder: &plan.folder,
            incarnation,
            run_folder: &self.plan.run_folder,
            ready_line,
        })?)
    }

    /// Waits for the end of one life of a node and records it.
    async fn bury(
        self: Arc<Self>,
        node: NodeId,
        incarnation: u32,
        act: ActId,
        mut exit: ExitWatch,
    ) {
        let exit = exit.wait().await;
        let (life, paused) = self.take_leave(node, incarnation, exit);
        self.pids.remove(life.process.pid);
        let folder = self.plan_of(node).map(|plan| plan.folder.clone());
        let recorded = folder.is_ok_and(|folder| life.record(&folder).is_ok());
        let journalled = paused.into_iter().chain([act]).all(|act| self.journal.end(act).is_ok());
        if !recorded || !journalled {
            crate::stderr::line(format_args!(
                "highwater: the end of node {node} ({exit}) could not be recorded"
            ));
        }
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(life);
    }

    /// Notes in a life's slot how it ended; the node may already live again in another slot.
    fn take_leave(&self, node: NodeId, incarnation: u32, exit: Exit) -> (Life, Option<ActId>) {
        let mut slots = self.lock();
        let slot = slots.get_mut(&node).expect("a node that ended has a slot");
        if slot.life.incarnation == incarnation {
            slot.life.exit = Some(exit);
            return (slot.life.clone(), slot.paused.take());
        }
        let mut superseded = self.superseded();
        let is_it = |slot: &Slot| slot.life.node == node && slot.life.incarnation == incarnation;
        let at = superseded.iter().position(is_it).expect("a superseded life waits for its burial");
        let Slot { mut life, paused, .. } = superseded.swap_remove(at);
        life.exit = Some(exit);
        (life, paused)
    }

    fn superseded(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.superseded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no node start any more. Who started before has a slot by now and can be signalled.
    pub(super) fn close(&self) {
        let _slots = self.lock();
        self.closed.store(true, Ordering::Relaxed);
    }

    pub(super) fn plan_of(&self, node: NodeId) -> Result<&NodePlan, ClusterError> {
        self.plan.nodes.get(&node).ok_or(ClusterError::NoSuchNode(node))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What messages call a node's process.
pub(super) fn name(node: NodeId) -> String {
    format!("node {node}")
}
