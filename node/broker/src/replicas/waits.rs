//! Requests that wait for replicas, and what runs when their wait is over.

use std::collections::BTreeMap;
use std::fmt;

use highwater_node_core::replica::Env;
use highwater_node_core::types::{PartitionId, Time};
use highwater_node_core::waiting_room::{Outcome, Released, Wait, WaitId, WaitingRoom};

use crate::effect::ConnId;
use crate::kernel::Then;
use crate::node::Node;
use crate::timers::TimerId;

/// The waiting room, and how each wait goes on.
#[derive(Default)]
pub(crate) struct Waits {
    room: WaitingRoom,
    waiters: BTreeMap<WaitId, Waiter>,
    /// A connection has one request under way, so at most one wait.
    by_conn: BTreeMap<ConnId, WaitId>,
    next: u64,
}

struct Waiter {
    conn: ConnId,
    timer: Option<TimerId>,
    then: Then<Outcome>,
}

/// Lets the request of a connection wait for replicas, at most until `deadline`; `then` runs at
/// once when there is nothing to wait for.
pub(crate) fn enter(
    node: &mut Node,
    conn: ConnId,
    deadline: Option<Time>,
    wait: Wait,
    then: impl FnOnce(&mut Node, Outcome) + Send + 'static,
) {
    let (now, rules) = (node.kernel.now(), node.rules);
    let manager = &mut node.broker_mut().replicas;
    let env = Env { now, rules: &rules, brokers: &manager.brokers };
    let id = WaitId(manager.waits.next);
    manager.waits.next += 1;
    match manager.waits.room.enter(&env, &manager.hosted, id, deadline, wait) {
        Some(released) => then(node, released.outcome),
        None => {
            let timer = deadline.map(|at| node.kernel.at(at, expire));
            let waits = &mut node.broker_mut().replicas.waits;
            waits.waiters.insert(id, Waiter { conn, timer, then: Box::new(then) });
            waits.by_conn.insert(conn, id);
        }
    }
}

/// Something about a partition has changed: whoever waited for it goes on.
pub(super) fn touch(node: &mut Node, partition: PartitionId) {
    let (now, rules) = (node.kernel.now(), node.rules);
    let manager = &mut node.broker_mut().replicas;
    let env = Env { now, rules: &rules, brokers: &manager.brokers };
    let mut released = Vec::new();
    manager.waits.room.touch(&env, &manager.hosted, partition, &mut released);
    go_on(node, released);
}

fn expire(node: &mut Node) {
    let now = node.kernel.now();
    let mut released = Vec::new();
    node.broker_mut().replicas.waits.room.expire(now, &mut released);
    go_on(node, released);
}

/// The connection is gone: nobody waits any more for what its request asked.
pub(crate) fn forget(node: &mut Node, conn: ConnId) {
    let Some(broker) = &mut node.broker else { return };
    let waits = &mut broker.replicas.waits;
    let Some(id) = waits.by_conn.remove(&conn) else { return };
    waits.room.forget(id);
    let timer = waits.waiters.remove(&id).and_then(|waiter| waiter.timer);
    if let Some(timer) = timer {
        node.kernel.cancel(timer);
    }
}

/// Runs what follows each wait once this step's decisions are made.
fn go_on(node: &mut Node, released: Vec<Released>) {
    for Released { id, outcome } in released {
        let waits = &mut node.broker_mut().replicas.waits;
        let waiter = waits.waiters.remove(&id).expect("a wait is released once");
        let Waiter { conn, timer, then } = waiter;
        waits.by_conn.remove(&conn);
        if let Some(timer) = timer {
            node.kernel.cancel(timer);
        }
        node.kernel.later(|node| then(node, outcome));
    }
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waits").field("waiting", &self.waiters.len()).finish_non_exhaustive()
    }
}
