//! Connections to other nodes.

use std::sync::Arc;
use std::time::Duration;

use highwater_broker::ConnId;
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use super::serve::{Shared, serve};
use super::{Connection, Opener};
use crate::message::Message;

/// Opens connections on the network thread.
#[derive(Debug)]
pub struct Dialer {
    /// Where their tasks run.
    pub runtime: Handle,
    /// What their tasks need.
    pub shared: Shared,
    /// `socket.connection.setup.timeout.ms`.
    pub timeout: Duration,
}

impl Dialer {
    /// Opens a connection; the node hears of it by a message.
    pub fn dial(&self, conn: ConnId, address: String) {
        let (shared, timeout) = (self.shared.clone(), self.timeout);
        self.runtime.spawn(async move {
            let opened = tokio::time::timeout(timeout, TcpStream::connect(address)).await;
            let stream = opened.ok().and_then(Result::ok);
            let connection =
                stream.map(|stream| Arc::new(Connection::new(conn, Opener::Node, stream)));
            let message = Message::Dialed { conn, connection: connection.clone() };
            if shared.node.send(message).is_ok()
                && let Some(connection) = connection
            {
                serve(connection, shared).await;
            }
        });
    }
}
