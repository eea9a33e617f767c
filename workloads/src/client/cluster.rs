//! What a client knows of the cluster: where brokers are and who leads which key.

use std::collections::BTreeMap;

use highwater_wire::messages::MetadataResponse;

use super::Address;
use crate::{Catalog, Key};

/// The leader of a key, as far as a client has heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leader {
    /// The broker.
    pub node: i32,
    /// The epoch of its leadership.
    pub epoch: i32,
}

/// Brokers and leaders.
#[derive(Debug, Clone, Default)]
pub(super) struct Cluster {
    brokers: BTreeMap<i32, Address>,
    leaders: BTreeMap<Key, Leader>,
}

impl Cluster {
    pub(super) fn leader(&self, key: Key) -> Option<Leader> {
        self.leaders.get(&key).copied().filter(|leader| leader.node >= 0)
    }

    pub(super) fn address(&self, node: i32) -> Option<&Address> {
        self.brokers.get(&node)
    }

    /// Takes over an answer. A leader of an epoch older than one heard of before is not believed
    /// (KIP-320): the broker that named it is behind. Tells whether anything is new.
    pub(super) fn learn(&mut self, catalog: &Catalog, answer: &MetadataResponse) -> bool {
        let before = self.leaders.clone();
        for broker in &answer.brokers {
            let port = u16::try_from(broker.port).unwrap_or(0);
            let address = Address { host: broker.host.to_string(), port };
            self.brokers.insert(broker.node_id.0, address);
        }
        for topic in &answer.topics {
            let name = topic.name.as_ref().map_or("", |name| name.0.as_str());
            for partition in &topic.partitions {
                let key = catalog.told(topic.topic_id, name, partition.partition_index);
                let Some(key) = key else { continue };
                let leader = Leader { node: partition.leader_id.0, epoch: partition.leader_epoch };
                self.learn_leader(key, leader);
            }
        }
        self.leaders != before
    }

    fn learn_leader(&mut self, key: Key, leader: Leader) {
        // An epoch without a leader (node -1) is kept, too: it outdates the leader before it.
        let known = self.leaders.entry(key).or_insert(leader);
        if leader.epoch >= known.epoch {
            *known = leader;
        }
    }
}
