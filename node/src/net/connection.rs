//! One connection as the node's thread sees it: send, pause, close.

use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::{Buf, Bytes};
use highwater_broker::ConnId;
use highwater_broker::wire::frame;
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Frames of one connection that wait for the node's thread: enough that it need not wait for the
/// network, few enough that nobody waits behind one busy connection.
const MAX_DELIVERED: usize = 4;

/// Who opened a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// Someone else, who asks.
    Peer,
    /// The node, which asks.
    Node,
}

/// A socket, what is still to be written to it, and what its task should do.
#[derive(Debug)]
pub struct Connection {
    id: ConnId,
    opener: Opener,
    pub(super) stream: TcpStream,
    pending: Mutex<VecDeque<Bytes>>,
    /// Frames on their way to the node's thread.
    delivered: AtomicUsize,
    paused: AtomicBool,
    closing: AtomicBool,
    /// Tells the task that one of the above has changed.
    pub(super) changed: Notify,
}

impl Connection {
    /// A connection over an open socket.
    pub fn new(id: ConnId, opener: Opener, stream: TcpStream) -> Connection {
        // Answers are small and waited for.
        let _ = stream.set_nodelay(true);
        Connection {
            id,
            opener,
            stream,
            pending: Mutex::new(VecDeque::new()),
            delivered: AtomicUsize::new(0),
            paused: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Its number.
    pub fn id(&self) -> ConnId {
        self.id
    }

    /// Sends one frame. It is written at once as far as the socket takes it, without a detour over
    /// the network thread; the rest follows when the socket is ready.
    pub fn send(&self, parts: &[Bytes]) {
        let mut pending = self.pending.lock().expect("no holder of the lock panics");
        let idle = pending.is_empty();
        pending.push_back(Bytes::copy_from_slice(&frame::prefix(parts)));
        pending.extend(parts.iter().filter(|part| !part.is_empty()).cloned());
        if idle && !self.write(&mut pending) {
            self.changed.notify_one();
        }
    }

    /// Stops or resumes reading.
    pub fn set_paused(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.changed.notify_one();
    }

    /// Closes the connection once everything is written.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// Counts a frame that goes to the node's thread.
    pub(super) fn deliver_one(&self) {
        self.delivered.fetch_add(1, Ordering::AcqRel);
    }

    /// The node's thread took a frame.
    pub fn taken(&self) {
        if self.delivered.fetch_sub(1, Ordering::AcqRel) == MAX_DELIVERED {
            self.changed.notify_one();
        }
    }

    /// True when the node may get a further frame. One who asks and does not read the answers gets
    /// no more of them, so that they do not pile up here (Kafka mutes such a channel).
    pub(super) fn has_room(&self) -> bool {
        let unread = self.opener == Opener::Peer && self.has_pending();
        let full = self.delivered.load(Ordering::Acquire) >= MAX_DELIVERED;
        !unread && !full && !self.paused.load(Ordering::Acquire)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Writes what the socket takes; true when nothing is left.
    pub(super) fn flush(&self) -> bool {
        self.write(&mut self.pending.lock().expect("no holder of the lock panics"))
    }

    /// True when something waits to be written.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.lock().expect("no holder of the lock panics").is_empty()
    }

    fn write(&self, pending: &mut VecDeque<Bytes>) -> bool {
        while !pending.is_empty() {
            let slices: Vec<IoSlice<'_>> =
                pending.iter().take(MAX_SLICES).map(|part| IoSlice::new(part)).collect();
            match self.stream.try_write_vectored(&slices) {
                Ok(written) => advance(pending, written),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(_) => {
                    // The reading side notices the same and says so.
                    pending.clear();
                    self.close();
                }
            }
        }
        true
    }
}

/// Pieces a write; the system takes at most 1,024.
const MAX_SLICES: usize = 64;

fn advance(pending: &mut VecDeque<Bytes>, mut written: usize) {
    while let Some(first) = pending.front_mut() {
        if written < first.len() {
            first.advance(written);
            return;
        }
        written -= first.len();
        pending.pop_front();
    }
}

#[cfg(test)]
mod tests;
