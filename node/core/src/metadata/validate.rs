//! The invariants of the image: what every replay of a correct controller's log keeps.

use std::collections::BTreeSet;

use super::image::{Image, Topic};
use super::partition::Partition;
use crate::types::{BrokerId, PartitionId};

impl Image {
    /// Checks the whole image; panics with the invariant that does not hold.
    pub fn validate(&self) {
        assert_eq!(self.topics.len(), self.topic_ids.len(), "a topic has one name and one id");
        for (name, id) in &self.topic_ids {
            let topic = self.topics.get(id).expect("each name leads to a topic");
            assert_eq!(name, &topic.name, "the topic's name leads to the topic");
            validate_topic(topic);
        }
        for (id, partition) in self.partitions() {
            self.validate_partition(id, partition);
        }
        for broker in self.brokers.values() {
            assert!(broker.epoch.0 < self.end.0, "a broker's epoch is the offset of its record");
        }
    }

    /// Rules 21, 29 and 33, with ELR off.
    fn validate_partition(&self, id: PartitionId, partition: &Partition) {
        let state = &partition.state;
        assert_distinct(id, &state.replicas);
        assert_distinct(id, &state.isr);
        assert!(!state.isr.is_empty(), "{id:?}: the ISR is empty though ELR is off");
        let assigned = |broker: &BrokerId| state.replicas.contains(broker);
        assert!(state.isr.iter().all(assigned), "{id:?}: ISR outside the assignment");
        let both = partition.elr.iter().any(|broker| state.isr.contains(broker));
        assert!(!both, "{id:?}: a broker in both ISR and ELR");
        if let Some(leader) = state.leader {
            assert!(state.isr.contains(&leader), "{id:?}: leader {leader} outside the ISR");
            assert!(self.is_active(leader), "{id:?}: leader {leader} is fenced or stopping");
        }
        let live = state.isr.iter().filter(|id| self.is_active(**id)).count();
        let sole = state.isr.len() == 1;
        assert!(sole || live == state.isr.len(), "{id:?}: fenced or stopping ISR member");
        let dirs = partition.directories.len();
        assert_eq!(dirs, state.replicas.len(), "{id:?}: one directory a replica");
    }
}

fn validate_topic(topic: &Topic) {
    let dense = topic.partitions.keys().copied().eq(0..topic.partitions.len() as i32);
    assert!(dense, "{}: partition indexes are dense from 0", topic.name);
}

fn assert_distinct(id: PartitionId, brokers: &[BrokerId]) {
    let distinct: BTreeSet<&BrokerId> = brokers.iter().collect();
    assert_eq!(distinct.len(), brokers.len(), "{id:?}: a broker twice in {brokers:?}");
}
