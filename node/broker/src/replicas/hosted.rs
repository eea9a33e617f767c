//! The partitions that this broker has a copy of.

use std::collections::BTreeMap;

use highwater_log::LogId;
use highwater_node_core::replica::{Replica, Replicas};
use highwater_node_core::types::{PartitionId, TopicId};

use crate::config::TopicConfig;

/// One partition's copy.
#[derive(Debug)]
pub(crate) struct Hosted {
    /// Its log in the store.
    pub(crate) log: LogId,
    /// The topic's name.
    pub(crate) topic: String,
    /// The topic's settings.
    pub(crate) config: TopicConfig,
    /// The replica, once its log is open.
    pub(crate) replica: Option<Replica>,
}

/// All of them, by identity.
#[derive(Debug, Default)]
pub(crate) struct HostedPartitions(BTreeMap<PartitionId, Hosted>);

impl HostedPartitions {
    pub(crate) fn get(&self, id: PartitionId) -> Option<&Hosted> {
        self.0.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: PartitionId) -> Option<&mut Hosted> {
        self.0.get_mut(&id)
    }

    pub(crate) fn insert(&mut self, id: PartitionId, hosted: Hosted) {
        self.0.insert(id, hosted);
    }

    pub(crate) fn remove(&mut self, id: PartitionId) -> Option<Hosted> {
        self.0.remove(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PartitionId, &Hosted)> {
        self.0.iter().map(|(id, hosted)| (*id, hosted))
    }

    /// The partitions of one topic.
    pub(crate) fn of_topic(&self, topic: TopicId) -> Vec<PartitionId> {
        let first = PartitionId { topic, index: 0 };
        let last = PartitionId { topic, index: i32::MAX };
        self.0.range(first..=last).map(|(id, _)| *id).collect()
    }
}

impl Replicas for HostedPartitions {
    fn replica(&self, partition: PartitionId) -> Option<&Replica> {
        self.get(partition)?.replica.as_ref()
    }
}
