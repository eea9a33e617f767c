//! What the threads tell the node's thread.

use std::sync::Arc;

use bytes::Bytes;
use highwater_broker::log::{Completion, StoreError};
use highwater_broker::{ConnId, OpId};

use crate::net::Connection;

/// Something happened outside.
#[derive(Debug)]
pub enum Message {
    /// Someone connected.
    Accepted {
        /// Our side of it.
        connection: Arc<Connection>,
        /// The listener's name.
        listener: String,
        /// The caller's address.
        peer: String,
    },
    /// A connection that the node asked for is open, or could not be opened.
    Dialed {
        /// The number that the node chose.
        conn: ConnId,
        /// Our side of it.
        connection: Option<Arc<Connection>>,
    },
    /// A whole frame came.
    Frame {
        /// Where from.
        conn: ConnId,
        /// Header and body.
        frame: Bytes,
    },
    /// A connection is gone.
    Closed {
        /// Which one.
        conn: ConnId,
    },
    /// The disk is done.
    Disk {
        /// With what.
        op: OpId,
        /// What it gave.
        done: Completion,
    },
    /// The disk failed at something that no command asked for.
    DiskFailed {
        /// How.
        error: StoreError,
    },
    /// SIGTERM or SIGINT.
    Shutdown,
}
