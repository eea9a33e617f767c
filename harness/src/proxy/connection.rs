//! One proxied connection: its two ends, its two directions, and the handle that resets it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::{Endpoint, Link, Part, net::Shared, pump::Pump, scan::Exchange, stream::Stream};
use crate::cluster::{Listener, NodeId};

/// Who speaks with whom over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// Who opened it.
    pub(super) opener: Endpoint,
    /// The opener's process, where it is a node.
    pub(super) opener_pid: Option<i32>,
    /// The node that accepts it.
    pub(super) acceptor: NodeId,
    /// The acceptor's process when it was dialled.
    pub(super) acceptor_pid: Option<i32>,
    /// Which of its listeners.
    pub(super) listener: Listener,
}

impl Ends {
    /// The direction of requests.
    pub(super) fn requests(&self) -> Link {
        Link { from: self.opener, to: Endpoint::Node(self.acceptor) }
    }

    /// The direction in which `part` flows.
    pub(super) fn link(&self, part: Part) -> Link {
        match part {
            Part::Request => self.requests(),
            Part::Answer => self.requests().reversed(),
        }
    }

    /// The processes at the two ends, where they are known.
    pub(super) fn pids(&self) -> impl Iterator<Item = i32> {
        [self.opener_pid, self.acceptor_pid].into_iter().flatten()
    }
}

/// The open connections, so that those of an ended process can be reset.
#[derive(Debug, Default)]
pub(super) struct Registry {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, (Ends, CancellationToken)>,
}

impl Registry {
    /// Enters a connection until the returned entry is dropped.
    pub(super) fn enter(self: &Arc<Self>, ends: Ends, reset: CancellationToken) -> Entered {
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, (ends, reset));
        Entered { registry: Arc::clone(self), number }
    }

    /// Resets every connection that the process opened or accepted.
    pub(super) fn reset_process(&self, pid: i32) {
        for (ends, reset) in self.lock().by_number.values() {
            if ends.pids().any(|end| end == pid) {
                reset.cancel();
            }
        }
    }

    /// How many connections are open.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().by_number.len()
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's entry in the registry.
#[derive(Debug)]
pub(super) struct Entered {
    registry: Arc<Registry>,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.registry.lock().by_number.remove(&self.number);
    }
}

/// Carries bytes between the two sockets until both directions ended or the connection is reset.
pub(super) async fn carry(
    shared: &Shared,
    ends: Ends,
    (mut opener, requests): (TcpStream, Stream),
    mut acceptor: TcpStream,
    reset: CancellationToken,
) {
    let exchange = Exchange::default();
    let clean = {
        let (from_opener, to_opener) = opener.split();
        let (from_acceptor, to_acceptor) = acceptor.split();
        let asking = Pump::new(shared, ends, Part::Request, &exchange, requests);
        let answering = Pump::new(shared, ends, Part::Answer, &exchange, Stream::new(Part::Answer));
        let both = async {
            tokio::try_join!(
                asking.run(from_opener, to_acceptor),
                answering.run(from_acceptor, to_opener)
            )
        };
        tokio::select! {
            () = reset.cancelled() => false,
            ended = both => ended.is_ok(),
        }
    };
    if !clean {
        reset_socket(&opener);
        reset_socket(&acceptor);
    }
}

/// Makes the socket's drop a reset instead of an orderly end.
pub(super) fn reset_socket(socket: &TcpStream) {
    // A socket that the peer has closed already refuses the option, and needs no reset.
    let _gone = socket.set_zero_linger();
}
