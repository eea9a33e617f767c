//! Listening sockets, and accepting from them.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use highwater_broker::ConnId;
use highwater_broker::config::ListenerConfig;
use tokio::net::{TcpListener, TcpSocket};

use super::serve::{Shared, serve};
use super::{Connection, Opener};
use crate::failure::Failure;
use crate::message::Message;

/// How long accepting rests when the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listener that is bound to its address.
#[derive(Debug)]
pub struct Bound {
    name: String,
    socket: TcpListener,
}

/// Binds one listener; must run within the network thread's runtime.
pub fn bind(listener: &ListenerConfig, backlog: u32) -> Result<Bound, Failure> {
    let ListenerConfig { name, host, port, .. } = listener;
    let refused = |error: std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::AddrInUse => "the port is taken".to_owned(),
            _ => error.to_string(),
        };
        Failure::cannot_serve(format!("cannot listen on {host}:{port} (listener {name}): {why}"))
    };
    let address = (host.as_str(), *port).to_socket_addrs().map_err(refused)?.next();
    let address = address.ok_or_else(|| refused(std::io::Error::other("no such host")))?;
    let socket = open(address, backlog).map_err(refused)?;
    Ok(Bound { name: name.clone(), socket })
}

fn open(address: SocketAddr, backlog: u32) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restarted node must not wait for connections of its predecessor to be forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}

/// Accepts connections for as long as the process lives. Their numbers are even.
pub async fn run(bound: Bound, numbers: Arc<AtomicU64>, shared: Shared) {
    loop {
        match bound.socket.accept().await {
            Ok((stream, peer)) => {
                let id = ConnId(numbers.fetch_add(2, Ordering::Relaxed));
                let connection = Arc::new(Connection::new(id, Opener::Peer, stream));
                let accepted = Message::Accepted {
                    connection: connection.clone(),
                    listener: bound.name.clone(),
                    peer: peer.to_string(),
                };
                if shared.node.send(accepted).is_err() {
                    return;
                }
                tokio::spawn(serve(connection, shared.clone()));
            }
            Err(error) => {
                crate::log_lines::warn(format!("listener {} cannot accept: {error}", bound.name));
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
