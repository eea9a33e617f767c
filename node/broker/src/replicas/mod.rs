//! The broker's copies of partitions: their state machines, their logs, and who waits for them.
//!
//! `metadata` follows the committed metadata, `open` opens and removes logs, `outputs` carries out
//! what a replica asks for, `waits` holds requests that cannot be answered yet, `produce` and
//! `read` are the two ways of records, `upkeep` is what happens by the clock.

mod convert;
mod hosted;
mod metadata;
mod open;
mod outputs;
pub(crate) mod produce;
pub(crate) mod read;
mod resolve;
#[cfg(test)]
mod tests;
mod upkeep;
pub(crate) mod waits;

use std::collections::BTreeMap;

use highwater_log::store::FoundLog;
use highwater_node_core::replica::{Brokers, Env, Outputs, Replica};
use highwater_node_core::types::PartitionId;

pub(crate) use convert::batch_meta;
pub(crate) use hosted::HostedPartitions;
pub(crate) use metadata::apply_delta;
pub(crate) use outputs::carry_out;
pub(crate) use resolve::{TopicRef, error_code, resolve};
pub(crate) use upkeep::{high_watermarks, start};

use crate::node::Node;
use waits::Waits;

/// The broker's copies of partitions, and the requests that wait for them.
#[derive(Debug, Default)]
pub struct ReplicaManager {
    pub(crate) hosted: HostedPartitions,
    /// The registered brokers as the replicas see them.
    brokers: Brokers,
    waits: Waits,
    /// Logs that were there at the start and that no partition has claimed, by directory.
    found: BTreeMap<String, FoundLog>,
    next_log: u64,
    /// True once this broker is registered and its replicas follow the metadata.
    following: bool,
}

impl ReplicaManager {
    /// The replica of this partition, once its log is open.
    pub fn replica(&self, id: PartitionId) -> Option<&Replica> {
        self.hosted.get(id)?.replica.as_ref()
    }

    /// The replica to change, and the brokers that it sees.
    pub(crate) fn replica_mut(&mut self, id: PartitionId) -> Option<(&mut Replica, &Brokers)> {
        let replica = self.hosted.get_mut(id)?.replica.as_mut()?;
        Some((replica, &self.brokers))
    }

    /// Checks the state of every replica; panics with the invariant that does not hold.
    pub fn validate(&self) {
        self.hosted.iter().filter_map(|(_, h)| h.replica.as_ref()).for_each(Replica::validate);
    }
}

/// Gives a replica an input and carries out what it asks for; `None` when there is no such replica
/// or its log is not open.
pub(crate) fn step<T>(
    node: &mut Node,
    id: PartitionId,
    input: impl FnOnce(&mut Replica, &Env, &mut Outputs) -> T,
) -> Option<T> {
    let (now, rules) = (node.kernel.now(), node.rules);
    let (replica, brokers) = node.broker_mut().replicas.replica_mut(id)?;
    let mut out = Outputs::new();
    let result = input(replica, &Env { now, rules: &rules, brokers }, &mut out);
    carry_out(node, id, out);
    Some(result)
}

/// Asks a replica something that changes nothing.
pub(crate) fn ask<T>(
    node: &Node,
    id: PartitionId,
    question: impl FnOnce(&Replica, &Env) -> T,
) -> Option<T> {
    let manager = &node.broker().replicas;
    let env = Env { now: node.kernel.now(), rules: &node.rules, brokers: &manager.brokers };
    manager.replica(id).map(|replica| question(replica, &env))
}
