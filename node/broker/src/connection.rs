//! Connections that others opened: one request at a time each, answered in order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use highwater_node_core::types::Time;

use crate::effect::{ConnId, Effect, Effects};

/// Frames that one connection may have waiting before the shell is asked to stop reading from it.
const MAX_WAITING_FRAMES: usize = 16;
/// The same in bytes; a single larger frame is taken, since the shell has it already.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Whom a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListenerKind {
    /// Clients and other brokers.
    Broker,
    /// Brokers and operators that speak to a controller.
    Controller,
}

/// Limits on what strangers may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// `max.connections`.
    pub(crate) connections: usize,
    /// `connections.max.idle.ms` in nanoseconds; 0 never closes.
    pub(crate) idle_ns: u64,
}

/// One accepted connection.
#[derive(Debug)]
struct Connection {
    kind: ListenerKind,
    listener: String,
    peer: String,
    waiting: VecDeque<Bytes>,
    waiting_bytes: usize,
    /// The serial of the request under way.
    answering: Option<u64>,
    last_active: Time,
    paused: bool,
}

/// A frame that is now to be served.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) conn: ConnId,
    pub(crate) serial: u64,
    pub(crate) kind: ListenerKind,
    pub(crate) listener: String,
    pub(crate) frame: Bytes,
}

/// All accepted connections.
#[derive(Debug)]
pub(crate) struct Connections {
    open: BTreeMap<ConnId, Connection>,
    /// Connections with a waiting frame and none under way.
    ready: BTreeSet<ConnId>,
    limits: ConnectionLimits,
    next_serial: u64,
    /// False until the broker is unfenced: what clients ask before waits.
    serving_clients: bool,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Connections {
        Connections {
            open: BTreeMap::new(),
            ready: BTreeSet::new(),
            limits,
            next_serial: 0,
            serving_clients: false,
        }
    }

    /// Takes a new connection, or closes it when there are too many.
    pub(crate) fn accept(
        &mut self,
        now: Time,
        conn: ConnId,
        kind: ListenerKind,
        (listener, peer): (String, String),
        out: &mut Effects,
    ) {
        if self.open.len() >= self.limits.connections {
            out.push(Effect::Close { conn });
            return;
        }
        let connection = Connection {
            kind,
            listener,
            peer,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            answering: None,
            last_active: now,
            paused: false,
        };
        let previous = self.open.insert(conn, connection);
        debug_assert!(previous.is_none(), "the shell never reuses a connection's number");
    }

    /// Queues one frame; a frame of a connection that was closed meanwhile is dropped.
    pub(crate) fn receive(&mut self, now: Time, conn: ConnId, frame: Bytes, out: &mut Effects) {
        let Some(connection) = self.open.get_mut(&conn) else { return };
        connection.last_active = now;
        connection.waiting_bytes += frame.len();
        connection.waiting.push_back(frame);
        if connection.answering.is_none() {
            self.ready.insert(conn);
        }
        if connection.is_full() && !connection.paused {
            connection.paused = true;
            out.push(Effect::Pause { conn });
        }
    }

    /// Takes the next frame to be served, and marks its connection as busy until it is answered.
    pub(crate) fn next(&mut self, out: &mut Effects) -> Option<Arrival> {
        let serves = |kind| kind == ListenerKind::Controller || self.serving_clients;
        let conn = *self.ready.iter().find(|conn| serves(self.open[conn].kind))?;
        self.ready.remove(&conn);
        let serial = self.next_serial;
        self.next_serial += 1;
        let connection = self.open.get_mut(&conn).expect("a ready connection is open");
        let frame = connection.waiting.pop_front().expect("a ready connection has a frame");
        connection.waiting_bytes -= frame.len();
        connection.answering = Some(serial);
        if connection.paused && !connection.is_full() {
            connection.paused = false;
            out.push(Effect::Resume { conn });
        }
        let (kind, listener) = (connection.kind, connection.listener.clone());
        Some(Arrival { conn, serial, kind, listener, frame })
    }

    /// Ends the request of this serial; false when its connection is gone.
    pub(crate) fn finish(&mut self, now: Time, conn: ConnId, serial: u64) -> bool {
        let Some(connection) = self.open.get_mut(&conn) else { return false };
        assert_eq!(connection.answering, Some(serial), "a request is answered once, in its turn");
        connection.answering = None;
        connection.last_active = now;
        if !connection.waiting.is_empty() {
            self.ready.insert(conn);
        }
        true
    }

    /// Closes from our side; what was sent before still goes out.
    pub(crate) fn close(&mut self, conn: ConnId, out: &mut Effects) {
        if self.forget(conn) {
            out.push(Effect::Close { conn });
        }
    }

    /// The connection is gone; true when it was one of these.
    pub(crate) fn forget(&mut self, conn: ConnId) -> bool {
        self.ready.remove(&conn);
        self.open.remove(&conn).is_some()
    }

    /// Closes what has been silent for longer than the limit and waits for no answer.
    pub(crate) fn close_idle(&mut self, now: Time, out: &mut Effects) {
        let limit = self.limits.idle_ns;
        let idle = |c: &Connection| c.answering.is_none() && now.since(c.last_active) > limit;
        let gone: Vec<ConnId> =
            self.open.iter().filter(|(_, c)| idle(c)).map(|(&conn, _)| conn).collect();
        for conn in gone {
            self.close(conn, out);
        }
    }

    /// From now on clients are answered too.
    pub(crate) fn serve_clients(&mut self) {
        self.serving_clients = true;
    }

    /// The address that a connection came from, for logs.
    pub(crate) fn peer(&self, conn: ConnId) -> &str {
        self.open.get(&conn).map_or("?", |connection| &connection.peer)
    }
}

impl Connection {
    fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_WAITING_FRAMES || self.waiting_bytes >= MAX_WAITING_BYTES
    }
}

#[cfg(test)]
mod tests;
