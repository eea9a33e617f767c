//! Rules on real sockets: what is withheld, what comes late, what is reset, and that all heals.

use std::{path::Path, sync::Arc, time::Duration};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::*;
use crate::{
    clock::RunClock,
    cluster::{ClusterPlan, ControllerPlacement, Listener, NodeId, Place},
    journal::Journal,
    nemesis::Rng,
    ports::PortPool,
    process::KnownPids,
};

mod rules;
mod witness;

const SOON: Duration = Duration::from_millis(150);
const LATE: Duration = Duration::from_secs(10);
const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);

/// Two brokers of which only the listeners exist: echo servers that answer every request frame.
struct Bench {
    net: Arc<ProxyNet>,
    plan: ClusterPlan,
    folder: TempDir,
    pids: Arc<KnownPids>,
    _ports: PortPool,
}

impl Bench {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut ports = PortPool::new();
        let controllers = ControllerPlacement::Separate(1);
        let plan = ClusterPlan::new(folder.path(), "bench", 2, controllers, &mut ports).unwrap();
        let pids = Arc::new(KnownPids::default());
        let journal = Arc::new(Journal::create(folder.path(), RunClock::start()).unwrap());
        let net = ProxyNet::start(&plan, Arc::clone(&pids), journal).await.unwrap();
        for place in plan.nodes.values().flat_map(|node| node.listeners.values()) {
            tokio::spawn(serve(TcpListener::bind(place.real).await.unwrap()));
        }
        Self { net, plan, folder, pids, _ports: ports }
    }

    fn place(&self, node: NodeId, listener: Listener) -> Place {
        self.plan.nodes[&node].place(listener).unwrap()
    }

    async fn client_of(&self, node: NodeId) -> Caller {
        Caller::connect(self.place(node, Listener::Client)).await
    }

    /// Rules for `link` end when the guard does.
    fn rule(&self, link: Link, action: Action) -> RuleGuard {
        self.net.install(LinkRule { link, action }).unwrap()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether the rule is felt before long.
async fn acted(rule: &RuleGuard) -> bool {
    let felt = async {
        while !rule.stats().acted() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(LATE, felt).await.is_ok()
}

/// Answers each request with its correlation id and body.
async fn serve(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(echo(stream));
    }
}

async fn echo(mut stream: TcpStream) -> Option<()> {
    loop {
        let length = stream.read_i32().await.ok()?;
        let mut frame = vec![0; length as usize];
        stream.read_exact(&mut frame).await.ok()?;
        let id_length = i16::from_be_bytes([frame[8], frame[9]]) as usize;
        let body = [&frame[4..8], &frame[10 + id_length..]].concat();
        stream.write_all(&[&(body.len() as i32).to_be_bytes(), &body[..]].concat()).await.ok()?;
    }
}

/// A client or broker that asks one thing after the other.
struct Caller {
    stream: TcpStream,
    asked: i32,
    name: &'static str,
}

impl Caller {
    async fn connect(place: Place) -> Self {
        let stream = TcpStream::connect(place.proxy).await.unwrap();
        Self { stream, asked: 0, name: "probe" }
    }

    async fn ask(&mut self, api_key: i16, body: &[u8]) {
        let name = self.name.as_bytes();
        let mut frame = [api_key.to_be_bytes(), 9i16.to_be_bytes()].concat();
        frame.extend(self.asked.to_be_bytes());
        frame.extend((name.len() as i16).to_be_bytes());
        frame.extend([name, body].concat());
        self.asked += 1;
        let prefix = (frame.len() as i32).to_be_bytes();
        self.stream.write_all(&[&prefix[..], &frame].concat()).await.unwrap();
    }

    /// The next answer: its correlation id and body.
    async fn hear(&mut self) -> std::io::Result<(i32, Vec<u8>)> {
        let length = self.stream.read_i32().await?;
        let correlation_id = self.stream.read_i32().await?;
        let mut body = vec![0; length as usize - 4];
        self.stream.read_exact(&mut body).await?;
        Ok((correlation_id, body))
    }

    /// The next answer, which must come.
    async fn hear_soon(&mut self) -> (i32, Vec<u8>) {
        timeout(LATE, self.hear()).await.expect("an answer comes").unwrap()
    }

    async fn hears_nothing(&mut self) -> bool {
        timeout(SOON, self.stream.peek(&mut [0])).await.is_err()
    }

    async fn round_trip(&mut self, api_key: i16, body: &[u8]) {
        self.ask(api_key, body).await;
        assert_eq!(self.hear_soon().await, (self.asked - 1, body.to_vec()));
    }
}
