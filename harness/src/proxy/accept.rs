//! Accepts on one proxy port: who calls, may they connect now, and then carries the bytes.

use std::{io, net::SocketAddr, sync::Arc, time::Instant};

use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_util::sync::CancellationToken;

use super::{
    Action, Endpoint, Part, caller,
    connection::{self, Ends},
    net::Shared,
    rule::ActiveRule,
    stream::Stream,
};
use crate::cluster::{Listener, NodeId, Place};

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
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
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
    let mut ends = identify(&shared, front, caller).await;
    let entry = shared.registry.enter(ends, reset.clone());
    let opened = tokio::select! {
        () = reset.cancelled() => None,
        opened = open(&shared, &ends, front, &mut opener) => opened,
    };
    let Some((acceptor, requests)) = opened else {
        connection::reset_socket(&opener);
        return;
    };
    ends.acceptor_pid = shared.pids.of(front.node);
    drop(entry);
    let _entry = shared.registry.enter(ends, reset.clone());
    connection::carry(&shared, ends, (opener, requests), acceptor, reset).await;
}

/// Only nodes call on the INTERNAL and CONTROLLER listeners; whoever else does is a client.
async fn identify(shared: &Arc<Shared>, front: Front, caller: SocketAddr) -> Ends {
    let node = match front.listener {
        Listener::Client => None,
        Listener::Internal | Listener::Controller => {
            let (pids, proxy) = (Arc::clone(&shared.pids), front.place.proxy);
            let search = move || caller::find(caller, proxy, &pids);
            tokio::task::spawn_blocking(search).await.ok().flatten()
        }
    };
    Ends {
        opener: node.map_or(Endpoint::Clients, |(node, _)| Endpoint::Node(node)),
        opener_pid: node.map(|(_, pid)| pid),
        acceptor: front.node,
        acceptor_pid: None,
        listener: front.listener,
    }
}

/// Dials the node once no cut keeps the two ends from a handshake. `None` when the opener gives up
/// first or the node does not accept.
async fn open(
    shared: &Shared,
    ends: &Ends,
    front: Front,
    opener: &mut TcpStream,
) -> Option<(TcpStream, Stream)> {
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
    let acceptor = TcpStream::connect(front.place.real).await.ok()?;
    acceptor.set_nodelay(true).ok()?;
    Some((acceptor, requests))
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
