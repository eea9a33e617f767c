//! Copies from leaders: one fetcher for each broker that leads something that is followed here.

mod answer;
mod range;
mod request;
mod session;

use std::collections::BTreeMap;

use highwater_node_core::fetcher::{Fetcher, LANES, Lane};
use highwater_node_core::types::{BrokerId, PartitionId};

use self::session::Session;
use crate::channel::{ChannelKey, Peer};
use crate::node::Node;
use crate::timers::TimerId;

/// All fetchers, and which of them has which partition.
#[derive(Debug, Default)]
pub(crate) struct Fetchers {
    by_leader: BTreeMap<BrokerId, Link>,
    leader_of: BTreeMap<PartitionId, BrokerId>,
}

/// One fetcher, its sessions with the leader, and the time at which it is to be looked at again.
#[derive(Debug)]
struct Link {
    fetcher: Fetcher,
    /// One for each lane.
    sessions: [Session; LANES],
    wake: Option<TimerId>,
}

/// Kafka calls the clients of its fetcher threads `broker-N-fetcher-M`.
const CHANNELS: [&str; LANES] = ["fetcher-0", "fetcher-1"];

fn channel(leader: BrokerId, lane: Lane) -> ChannelKey {
    ChannelKey { peer: Peer::Broker(leader), lane: CHANNELS[lane.0] }
}

/// Gives the partition to the fetcher of its leader, and takes it from any other (rule 10).
pub(crate) fn assign(node: &mut Node, id: PartitionId) {
    let follows = node.broker().replicas.replica(id).and_then(|replica| replica.follows());
    let back_off_ms = node.config.replication.fetch_backoff_ms;
    take_away(node, id, follows.map(|(leader, _)| leader));
    let Some((leader, epoch)) = follows else { return };
    let fetchers = &mut node.broker_mut().fetchers;
    let fresh = || Link {
        fetcher: Fetcher::new(leader, back_off_ms),
        sessions: Default::default(),
        wake: None,
    };
    fetchers.by_leader.entry(leader).or_insert_with(fresh).fetcher.add(id, epoch);
    fetchers.leader_of.insert(id, leader);
    node.kernel.later(move |node| fetch(node, leader));
}

/// Takes the partition from the fetcher that has it, unless that is the one of `leader`.
fn take_away(node: &mut Node, id: PartitionId, leader: Option<BrokerId>) {
    let fetchers = &mut node.broker_mut().fetchers;
    let before = fetchers.leader_of.get(&id).copied().filter(|before| Some(*before) != leader);
    let Some(before) = before else { return };
    fetchers.leader_of.remove(&id);
    if let Some(link) = fetchers.by_leader.get_mut(&before) {
        link.fetcher.remove(id);
    }
    // The others there may have waited for this one's disk, which from now on wakes another
    // fetcher.
    node.kernel.later(move |node| fetch(node, before));
}

/// The disk is done with something of this partition: its fetcher may go on.
pub(crate) fn resume(node: &mut Node, id: PartitionId) {
    if let Some(leader) = node.broker().fetchers.leader_of.get(&id).copied() {
        fetch(node, leader);
    }
}

/// Sends the next request of this fetcher, if it has one and none is under way.
fn fetch(node: &mut Node, leader: BrokerId) {
    let now = node.kernel.now();
    let broker = node.broker_mut();
    let Some(link) = broker.fetchers.by_leader.get_mut(&leader) else { return };
    match link.fetcher.next_request(now, &broker.replicas.hosted) {
        Some(next) => {
            let said = link.sessions[next.lane.0].ask(&next.asked);
            request::send(node, leader, next, said);
        }
        None => wake_later(node, leader),
    }
}

/// Looks again when the back-off is over that the fetcher waits for.
fn wake_later(node: &mut Node, leader: BrokerId) {
    let now = node.kernel.now();
    let Some(link) = node.broker_mut().fetchers.by_leader.get_mut(&leader) else { return };
    let (at, earlier) = (link.fetcher.next_wake(now), link.wake.take());
    if let Some(earlier) = earlier {
        node.kernel.cancel(earlier);
    }
    let Some(at) = at else { return };
    let timer = node.kernel.at(at, move |node| fetch(node, leader));
    if let Some(link) = node.broker_mut().fetchers.by_leader.get_mut(&leader) {
        link.wake = Some(timer);
    }
}
