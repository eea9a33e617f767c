//! Accepts on one proxy port: who calls, may they connect now, and then carries the bytes.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
    sync::watch,
    time,
};
use tokio_util::sync::CancellationToken;

use super::{
    Action, Endpoint, Part,
    caller::{self, Caller},
    connection::{self, Ends},
    net::Shared,
    rule::ActiveRule,
    stream::Stream,
};
use crate::cluster::{Listener, NodeId, Place};

/// How often a caller that seems to be no node is looked up: a node that was just started becomes
/// known a moment after it runs.
const LOOKS: usize = 100;
/// How long to wait before looking again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// How long to wait when no connection can be accepted.
const UNTIL_ONE_ENDS: Duration = Duration::from_millis(50);

/// One proxy: the listener that it stands before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Front {
    pub(super) node: NodeId,
    pub(super) listener: Listener,
    pub(super) place: Place,
}

/// Accepts until the proxies are closed.
pub(super) async fn serve(
    shared: Arc<Shared>,
    front: Front,
    listener: TcpListener,
    closed: CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            () = closed.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, caller)) => {
                let (shared, reset) = (Arc::clone(&shared), closed.child_token());
                tokio::spawn(connect(shared, front, stream, caller, reset));
            }
            Err(error) => {
                shared.fail(format!("the proxy at {} cannot accept: {error}", front.place.proxy));
                // Out of descriptors, most likely: wait until some connection has ended.
                time::sleep(UNTIL_ONE_ENDS).await;
            }
        }
    }
}

async fn connect(
    shared: Arc<Shared>,
    front: Front,
    mut opener: TcpStream,
    caller: SocketAddr,
    reset: CancellationToken,
) {
    let Some(mut ends) = identify(&shared, front, caller).await else { return };
    let entry = shared.registry.enter(ends, reset.clone());
    let opened = tokio::select! {
        () = reset.cancelled() => None,
        opened = open(&shared, &ends, front, &mut opener) => opened,
    };
    let Some(Opened { acceptor, acceptor_pid, requests }) = opened else {
        connection::reset_socket(&opener);
        return;
    };
    ends.acceptor_pid = acceptor_pid;
    // At every moment one of the two entries is there for the end of a process to find.
    let _whole = shared.registry.enter(ends, reset.clone());
    drop(entry);
    if ends.pids().any(|pid| !shared.pids.knows(pid)) {
        reset.cancel();
    }
    connection::carry(&shared, ends, (opener, requests), acceptor, reset).await;
}

/// What a connection has once the node accepted it.
struct Opened {
    acceptor: TcpStream,
    /// The node's process when it was dialled.
    acceptor_pid: Option<i32>,
    /// What the opener sent meanwhile.
    requests: Stream,
}

/// Only nodes call on the INTERNAL and CONTROLLER listeners; whoever else does is a client. `None`
/// when the caller has hung up already.
async fn identify(shared: &Arc<Shared>, front: Front, caller: SocketAddr) -> Option<Ends> {
    let client = Ends {
        opener: Endpoint::Clients,
        opener_pid: None,
        acceptor: front.node,
        acceptor_pid: None,
        listener: front.listener,
    };
    if front.listener == Listener::Client {
        return Some(client);
    }
    // A process that is just ending still has its socket in the first table and no open files any
    // more, so one look does not make a stranger.
    for _ in 0..LOOKS {
        match look_up(shared, front, caller).await {
            Caller::Node(node, pid) => {
                let (opener, opener_pid) = (Endpoint::Node(node), Some(pid));
                return Some(Ends { opener, opener_pid, ..client });
            }
            Caller::Gone => return None,
            Caller::Stranger => time::sleep(BETWEEN_LOOKS).await,
        }
    }
    Some(client)
}

async fn look_up(shared: &Arc<Shared>, front: Front, caller: SocketAddr) -> Caller {
    let (pids, proxy) = (Arc::clone(&shared.pids), front.place.proxy);
    let search = move || caller::find(caller, proxy, &pids);
    tokio::task::spawn_blocking(search).await.unwrap_or(Caller::Gone)
}

/// Dials the node once no cut keeps the two ends from a handshake. `None` when the opener gives up
/// first or the node does not accept.
async fn open(
    shared: &Shared,
    ends: &Ends,
    front: Front,
    opener: &mut TcpStream,
) -> Option<Opened> {
    opener.set_nodelay(true).ok()?;
    let mut requests = Stream::new(Part::Request);
    let mut changes = shared.rules.changes();
    let mut hung: Vec<Arc<ActiveRule>> = Vec::new();
    loop {
        changes.mark_unchanged();
        let cuts = cuts(shared, ends);
        if cuts.is_empty() {
            break;
        }
        for cut in cuts {
            if !hung.iter().any(|known| Arc::ptr_eq(known, &cut)) {
                cut.count_hung();
                hung.push(cut);
            }
        }
        hang(opener, &mut requests, &mut changes).await.ok()?;
    }
    // Asked before: an end that comes between the two is noticed by this pid.
    let before = shared.pids.of(front.node);
    let acceptor = TcpStream::connect(front.place.real).await.ok()?;
    acceptor.set_nodelay(true).ok()?;
    let acceptor_pid = before.or_else(|| shared.pids.of(front.node));
    Some(Opened { acceptor, acceptor_pid, requests })
}

/// The cuts in either direction: a handshake needs both.
fn cuts(shared: &Shared, ends: &Ends) -> Vec<Arc<ActiveRule>> {
    let both = [Part::Request, Part::Answer].map(|part| shared.rules.on(ends.link(part)));
    both.into_iter().flatten().filter(|active| active.rule.action == Action::Cut).collect()
}

/// Waits for a change of rules while the opener waits for its handshake.
async fn hang(
    opener: &mut TcpStream,
    requests: &mut Stream,
    changes: &mut watch::Receiver<u64>,
) -> io::Result<()> {
    loop {
        let read = async {
            match requests.space() {
                Some(space) => opener.read_buf(space).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = changes.changed() => {
                return changed.map_err(|_closed| io::ErrorKind::ConnectionAborted.into());
            }
            count = read => match count? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => requests.took_unread(Instant::now()),
            }
        }
    }
}
