//! Start, kill, stop and pause on real processes, and what the journal and the records say.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use highwater_history::{
    journal::{JournalEntry, left_to_heal},
    lines::Lines,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::watch, time::timeout};

use super::*;
use crate::{
    clock::RunClock,
    journal::{self, Journal},
    nemesis::{ClusterView, Controls, Ending, NoHooks, kill_nodes, stop_nodes},
    ports::PortPool,
    process::Exit,
    proxy::ProxyNet,
    target::{BoxFuture, Capabilities, Command, Ready, Target, TargetError},
};

const SOON: Duration = Duration::from_secs(20);
const ONE: NodeId = NodeId(1);
/// Ends in order on SIGTERM, with a status of its own.
pub(crate) const ORDERLY: &str = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done";

#[derive(Debug)]
struct Script(&'static str);

impl Target for Script {
    fn describe(&self) -> Value {
        json!(self.0)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { proxies: false, ..Capabilities::ALL }
    }

    fn prepare<'a>(
        &'a self,
        _plan: &'a ClusterPlan,
        _node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(async { Ok(()) })
    }

    fn command(&self, _plan: &ClusterPlan, _node: &NodePlan) -> Command {
        let arguments = vec!["-c".to_owned(), self.0.to_owned()];
        Command { program: PathBuf::from("/bin/sh"), arguments, environment: Vec::new() }
    }

    fn ready(&self) -> Ready {
        Ready::Line("ready")
    }
}

/// Two brokers and a controller that are shell scripts.
pub(crate) struct Bench {
    pub(crate) cluster: Arc<Cluster>,
    folder: TempDir,
    _ports: PortPool,
}

impl Bench {
    pub(crate) fn new(script: &'static str) -> Self {
        let folder = TempDir::new().unwrap();
        let placement = ControllerPlacement::Separate(1);
        let mut ports = PortPool::new();
        let plan = ClusterPlan::new(folder.path(), "c", 2, placement, &mut ports).unwrap();
        let journal = Arc::new(Journal::create(folder.path(), RunClock::start()).unwrap());
        let cluster = Cluster::new(Arc::new(plan), Arc::new(Script(script)), journal);
        Self { cluster, folder, _ports: ports }
    }

    /// What faults act through while this is seen.
    pub(crate) async fn controls(&self, view: ClusterView) -> Controls {
        let cluster = Arc::clone(&self.cluster);
        let (pids, journal) = (Arc::clone(cluster.pids()), Arc::clone(cluster.journal()));
        let net = ProxyNet::start(cluster.plan(), pids, journal).await.unwrap();
        let (_sender, view) = watch::channel(Arc::new(view));
        Controls { cluster, net, view, hooks: Arc::new(NoHooks), clients: None }
    }

    /// Acts that the journal would have a heal undo.
    fn left(&self) -> usize {
        let lines = Lines::<JournalEntry>::read(&journal::path(self.folder.path())).unwrap().lines;
        left_to_heal(&lines).len()
    }

    /// The journal is closed by the task that waits for a process, a moment after its end.
    async fn nothing_is_left(&self) {
        let nothing = async {
            while self.left() > 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(SOON, nothing).await.expect("every act is undone");
    }
}

#[tokio::test]
async fn every_node_starts_and_ends() {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start_all().await.unwrap();
    assert!(bench.cluster.states().values().all(|state| *state == NodeState::Running));
    assert_eq!(bench.left(), 3);
    bench.cluster.end_all(SOON).await;
    assert!(bench.cluster.states().values().all(|state| *state == NodeState::Down));
    bench.nothing_is_left().await;
    assert_eq!(bench.cluster.crashes(), []);
}

#[tokio::test]
async fn a_killed_node_says_so_and_can_start_again() {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start(ONE).await.unwrap();
    let first = bench.cluster.process(ONE).unwrap();
    assert!(matches!(bench.cluster.start(ONE).await, Err(ClusterError::Up(ONE))));
    assert!(bench.cluster.kill(ONE).await.unwrap().killed());
    assert!(matches!(bench.cluster.kill(ONE).await, Err(ClusterError::Down(ONE))));
    bench.cluster.start(ONE).await.unwrap();
    assert_ne!(bench.cluster.process(ONE), Some(first));
    bench.cluster.kill_all().await;
    bench.nothing_is_left().await;
    let lives = fs::read_to_string(bench.folder.path().join("nodes/1/lives.jsonl")).unwrap();
    let lives: Vec<Value> = lives.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lives[0]["incarnation"], 0);
    assert_eq!(lives[1]["incarnation"], 1);
    assert_eq!(lives[0]["exit"], json!({"signal": 9}));
}

#[tokio::test]
async fn an_ended_cluster_starts_nobody() {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start(ONE).await.unwrap();
    bench.cluster.kill_all().await;
    assert!(matches!(bench.cluster.start(ONE).await, Err(ClusterError::Closed(ONE))));
    assert_eq!(bench.cluster.state(ONE), NodeState::Down);
    bench.nothing_is_left().await;
}

#[tokio::test]
async fn a_stopped_node_ends_by_itself() {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start(ONE).await.unwrap();
    assert_eq!(bench.cluster.stop(ONE, SOON).await.unwrap(), Some(Exit::Code(0)));
}

#[tokio::test]
async fn a_node_that_ignores_sigterm_is_reported_late() {
    let bench = Bench::new("trap '' TERM; echo ready; while :; do sleep 0.01; done");
    bench.cluster.start(ONE).await.unwrap();
    let patience = Duration::from_millis(100);
    assert_eq!(bench.cluster.stop(ONE, patience).await.unwrap(), None);
    assert_eq!(bench.cluster.state(ONE), NodeState::Running);
    bench.cluster.end_all(patience).await;
    assert_eq!(bench.cluster.state(ONE), NodeState::Down);
}

#[tokio::test]
async fn a_pause_holds_until_its_guard_goes() {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start(ONE).await.unwrap();
    let guard = bench.cluster.pause(ONE).await.unwrap();
    assert!(guard.took_hold().await);
    assert_eq!(bench.cluster.state(ONE), NodeState::Paused);
    assert!(matches!(bench.cluster.pause(ONE).await, Err(ClusterError::Down(ONE))));
    let process = guard.process();
    drop(guard);
    assert!(!process.stopped());
    assert_eq!(bench.cluster.state(ONE), NodeState::Running);
    assert_eq!(bench.left(), 1);
    assert_eq!(bench.cluster.stop(ONE, SOON).await.unwrap(), Some(Exit::Code(0)));
}

#[tokio::test]
async fn a_paused_node_can_be_killed() {
    let bench = Bench::new(ORDERLY);
    bench.cluster.start(ONE).await.unwrap();
    let guard = bench.cluster.pause(ONE).await.unwrap();
    assert!(bench.cluster.kill(ONE).await.unwrap().killed());
    bench.nothing_is_left().await;
    drop(guard);
    assert_eq!(bench.left(), 0);
}

#[tokio::test]
async fn an_end_that_nobody_asked_for_is_a_crash() {
    let bench = Bench::new("echo ready; read line < /dev/null; sleep 0.05; exit 9");
    bench.cluster.start(ONE).await.unwrap();
    bench.nothing_is_left().await;
    let crashed = async {
        while bench.cluster.crashes().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, crashed).await.unwrap();
    assert_eq!(bench.cluster.crashes()[0].exit, Some(Exit::Code(9)));
}

#[tokio::test]
async fn an_end_otherwise_than_asked_for_is_a_crash() {
    let bench = Bench::new("trap 'exit 101' TERM; echo ready; while :; do sleep 0.01; done");
    bench.cluster.start_all().await.unwrap();
    let controls = bench.controls(ClusterView::default()).await;
    let killed = kill_nodes(&controls, &[NodeId(2)]).await.unwrap();
    let stopped = stop_nodes(&controls, &[ONE], SOON).await.unwrap();
    assert!(matches!(killed.ending(), Ending::Installed { .. }));
    assert!(matches!(stopped.ending(), Ending::Indeterminate { .. }));
    bench.cluster.kill_all().await;
    bench.nothing_is_left().await;
    let crashed = async {
        while bench.cluster.crashes().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, crashed).await.unwrap();
    let crashes: Vec<_> = bench.cluster.crashes().iter().map(|l| (l.node, l.exit)).collect();
    assert_eq!(crashes, [(ONE, Some(Exit::Code(101)))]);
}

#[tokio::test]
async fn a_node_that_dies_before_it_is_ready_is_named_with_its_output() {
    let bench = Bench::new("exit 5");
    let error = bench.cluster.start(ONE).await.unwrap_err().to_string();
    assert!(error.contains("node 1 ended with exit status 5 before it was ready"), "{error}");
    assert!(error.contains("nodes/1"), "{error}");
}

#[tokio::test]
async fn an_unknown_node_is_refused() {
    let bench = Bench::new(ORDERLY);
    let error = bench.cluster.start(NodeId(9)).await.unwrap_err();
    assert_eq!(error.to_string(), "node 9 is not part of this cluster");
}
