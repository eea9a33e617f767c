//! A cluster of stand-ins: three brokers and a controller, and what is seen of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use highwater_harness::{
    clock::RunClock,
    cluster::{Cluster, ClusterPlan, ControllerPlacement, Listener, NodeId, NodePlan, NodeState},
    disk::Disks,
    journal::Journal,
    nemesis::{ClusterView, Controls, NoHooks, PartitionView},
    ports::PortPool,
    process::Exit,
    proxy::ProxyNet,
    target::{BoxFuture, Capabilities, Command, Ready, Target, TargetError},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    time,
};

use crate::stand_in::{Configuration, VARIABLE, WHO_HEARS, request};

/// Longer than anything here takes, also on a loaded machine.
pub const LATE: Duration = Duration::from_secs(90);
/// A question that is not answered by then is taken for cut off; a wrong guess is asked again.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);
/// Long enough for every pair of nodes to have asked each other, were nothing in the way and the
/// machine idle; each further look takes longer.
const LISTENING: Duration = Duration::from_millis(150);
const LISTENING_MOST: Duration = Duration::from_secs(5);

/// In a node's folder: its next start ends at once.
const BROKEN: &str = "broken";
/// In a node's folder: there is no program to start.
const ABSENT: &str = "absent";

/// Who hears whom: (asker, asked) for nodes, (0, asked) for a client.
pub type Reach = BTreeSet<(i32, i32)>;

/// The target whose nodes are stand-ins; they write if their disks are watched.
#[derive(Debug)]
struct StandIns {
    write: bool,
}

impl Target for StandIns {
    fn describe(&self) -> Value {
        json!("stand-ins")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn prepare<'a>(
        &'a self,
        _plan: &'a ClusterPlan,
        _node: &'a NodePlan,
    ) -> BoxFuture<'a, Result<(), TargetError>> {
        Box::pin(async { Ok(()) })
    }

    fn command(&self, plan: &ClusterPlan, node: &NodePlan) -> Command {
        let peers = plan.nodes.values().filter(|peer| peer.id != node.id);
        let configuration = Configuration {
            id: node.id.0,
            listen: node.listeners.values().map(|place| place.real).collect(),
            peers: peers.map(|peer| (peer.id.0, inner(peer).proxy)).collect(),
            disk: self.write.then(|| node.log_dir.clone()),
        };
        let test = "stand_in::serves_until_it_is_told_to_stop";
        if node.folder.join(BROKEN).exists() {
            let arguments = ["-c", "exit 64"].map(str::to_owned).to_vec();
            return Command { program: "/bin/sh".into(), arguments, environment: Vec::new() };
        }
        if node.folder.join(ABSENT).exists() {
            let (arguments, environment) = Default::default();
            return Command { program: node.folder.join("none"), arguments, environment };
        }
        Command {
            program: std::env::current_exe().unwrap(),
            arguments: [test, "--exact", "--nocapture"].map(str::to_owned).to_vec(),
            environment: vec![(
                VARIABLE.to_owned(),
                serde_json::to_string(&configuration).unwrap(),
            )],
        }
    }

    fn ready(&self) -> Ready {
        Ready::Line("ready ")
    }
}

/// Where other nodes reach this one.
fn inner(node: &NodePlan) -> highwater_harness::cluster::Place {
    let listener = if node.roles.broker { Listener::Internal } else { Listener::Controller };
    node.place(listener).unwrap()
}

/// A running cluster.
pub struct Bench {
    pub controls: Controls,
    pub view: watch::Sender<Arc<ClusterView>>,
    _folder: Option<TempDir>,
    _ports: PortPool,
}

impl Bench {
    /// Starts a cluster in a folder of its own.
    pub async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let mut bench = Self::start_in(folder.path()).await;
        bench._folder = Some(folder);
        bench
    }

    /// Starts a cluster in a folder of its own whose nodes write to disks that are watched.
    pub async fn start_writing(library: PathBuf) -> Self {
        let folder = TempDir::new().unwrap();
        let mut bench = Self::start_with(folder.path(), Some(Disks::new(library))).await;
        bench._folder = Some(folder);
        bench
    }

    /// Starts a cluster whose run folder is `path`.
    pub async fn start_in(path: &Path) -> Self {
        Self::start_with(path, None).await
    }

    async fn start_with(path: &Path, disks: Option<Arc<Disks>>) -> Self {
        let mut ports = PortPool::new();
        let placement = ControllerPlacement::Separate(1);
        let plan = Arc::new(ClusterPlan::new(path, "c", 3, placement, &mut ports).unwrap());
        let journal = Arc::new(Journal::create(path, RunClock::start()).unwrap());
        let target = Arc::new(StandIns { write: disks.is_some() });
        let own = Arc::clone(&journal);
        let cluster = Cluster::with_disks(Arc::clone(&plan), target, own, disks);
        cluster.prepare().await.unwrap();
        let pids = Arc::clone(cluster.pids());
        let net = ProxyNet::start(&plan, pids, journal).await.unwrap();
        cluster.start_all().await.unwrap();
        let (sender, view) = watch::channel(Arc::new(view()));
        let controls = Controls { cluster, net, view, hooks: Arc::new(NoHooks), clients: None };
        Self { controls, view: sender, _folder: None, _ports: ports }
    }

    /// From now on a start of the node ends at once.
    pub fn break_start(&self, node: i32) {
        self.mark(node, BROKEN);
    }

    /// From now on the harness cannot start the node.
    pub fn lose_program(&self, node: i32) {
        self.mark(node, ABSENT);
    }

    fn mark(&self, node: i32, name: &str) {
        let folder = &self.controls.cluster.plan().nodes[&NodeId(node)].folder;
        std::fs::write(folder.join(name), "").unwrap();
    }

    pub fn state(&self, node: i32) -> NodeState {
        self.controls.cluster.state(NodeId(node))
    }

    /// Who answers whom now, asked twice so that no answer from before counts.
    pub async fn reach(&self, listening: Duration) -> Reach {
        let plan = self.controls.cluster.plan();
        let mut reach = Reach::new();
        for _ in 0..2 {
            reach.clear();
            for node in plan.nodes.values() {
                reach.extend(hears(plan, node).await);
            }
            time::sleep(listening).await;
        }
        for node in plan.nodes.values() {
            reach.extend(hears(plan, node).await);
            if let Some(place) = node.place(Listener::Client) {
                let mut client = time::timeout(LATE, TcpStream::connect(place.proxy)).await;
                let stream = client.as_mut().unwrap().as_mut().unwrap();
                if question(stream, 3, ANSWERED_WITHIN).await.is_some() {
                    reach.insert((0, node.id.0));
                }
            }
        }
        reach
    }

    /// Waits until the reach is no longer that of a healthy cluster.
    pub async fn until_broken(&self) {
        let broken = async { while self.reach(LISTENING).await == whole() {} };
        time::timeout(LATE, broken).await.expect("somebody is no longer heard");
    }

    /// Waits until the reach is `wanted`.
    pub async fn until_reach(&self, wanted: &Reach) {
        let mut last = Reach::new();
        let mut listening = LISTENING;
        let reached = async {
            loop {
                last = self.reach(listening).await;
                if last == *wanted {
                    return;
                }
                listening = (listening * 2).min(LISTENING_MOST);
            }
        };
        let reached = time::timeout(LATE, reached).await;
        assert!(reached.is_ok(), "wanted {wanted:?}, last seen {last:?}");
    }

    /// Everyone hears everyone, and nothing failed in the proxies.
    pub async fn until_whole(&self) {
        self.until_reach(&whole()).await;
        assert!((1..=3).chain([101]).all(|node| self.state(node) == NodeState::Running));
        assert_eq!(self.controls.net.failures(), Vec::<String>::new());
    }

    pub async fn end(self) {
        self.controls.cluster.end_all(LATE).await;
    }
}

/// The reach of a healthy cluster.
pub fn whole() -> Reach {
    let nodes = [1, 2, 3, 101];
    let between = nodes.iter().flat_map(|from| nodes.map(|to| (*from, to)));
    between.filter(|(from, to)| from != to).chain([(0, 1), (0, 2), (0, 3)]).collect()
}

/// `whole` without the pairs that `cut` names, in either order of asking: without the request or
/// without its answer nobody is heard.
pub fn without(cut: &[(i32, i32)]) -> Reach {
    let is_cut = |pair: &(i32, i32)| cut.contains(pair) || cut.contains(&(pair.1, pair.0));
    whole().into_iter().filter(|pair| !is_cut(pair)).collect()
}

/// What the engine would have seen: node 1 leads t-0, its followers are in sync.
pub fn view() -> ClusterView {
    let nodes = [1, 2, 3].map(NodeId).to_vec();
    let partition = PartitionView {
        leader: Some(NodeId(1)),
        leader_epoch: 5,
        replicas: nodes.clone(),
        isr: nodes.clone(),
        ..PartitionView::default()
    };
    ClusterView {
        time_ns: 1,
        asked_ns: nodes.iter().map(|node| (*node, 1)).collect(),
        live_brokers: nodes,
        controller: Some(NodeId(101)),
        partitions: BTreeMap::from([("t-0".parse().unwrap(), partition)]),
    }
}

async fn hears(plan: &ClusterPlan, node: &NodePlan) -> Reach {
    let stream = TcpStream::connect(inner(node).real).await;
    let Ok(mut stream) = stream else { return Reach::new() };
    let peers = plan.nodes.keys().filter(|peer| **peer != node.id);
    match question(&mut stream, WHO_HEARS, ANSWERED_WITHIN).await {
        Some(heard) => {
            let heard = peers.zip(heard).filter(|(_, heard)| *heard == 1);
            heard.map(|(peer, _)| (node.id.0, peer.0)).collect()
        }
        None => Reach::new(),
    }
}

/// The body of the answer to a bodiless request.
async fn question(stream: &mut TcpStream, api_key: i16, within: Duration) -> Option<Vec<u8>> {
    let exchange = async {
        stream.write_all(&request(api_key, "observer")).await.ok()?;
        let length = stream.read_i32().await.ok()?;
        let mut answer = vec![0; length as usize];
        stream.read_exact(&mut answer).await.ok()?;
        Some(answer.split_off(4))
    };
    time::timeout(within, exchange).await.ok().flatten()
}

/// What the stand-in's own test checks.
pub async fn a_stand_in_serves_and_stops() {
    let bench = Bench::start().await;
    bench.until_whole().await;
    let exit = bench.controls.cluster.stop(NodeId(2), LATE).await.unwrap();
    assert_eq!(exit, Some(Exit::Code(0)));
    bench.end().await;
}
