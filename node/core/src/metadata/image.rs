//! The metadata image: what the records of the log replay to (rule 75).

use std::collections::BTreeMap;

use super::partition::Partition;
use super::record::{
    DirectoryId, Endpoint, FeatureRange, IncarnationId, RegisterControllerRecord, Resource,
};
use crate::types::{BrokerEpoch, BrokerId, Offset, PartitionId, TopicId};

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Its partitions by index; dense from 0.
    pub partitions: BTreeMap<i32, Partition>,
}

/// One registered broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// The epoch of its registration: that record's offset.
    pub epoch: BrokerEpoch,
    /// The run of the process.
    pub incarnation: IncarnationId,
    /// Where it can be reached.
    pub endpoints: Vec<Endpoint>,
    /// What it can work at.
    pub features: Vec<FeatureRange>,
    /// Its rack, if it has one.
    pub rack: Option<String>,
    /// True while it may neither lead nor be in an ISR.
    pub fenced: bool,
    /// True while it hands over its leaderships.
    pub in_controlled_shutdown: bool,
    /// Its log directories.
    pub log_dirs: Vec<DirectoryId>,
}

/// The cluster's metadata as of one offset of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The offset after the last record that was applied.
    pub end: Offset,
    /// Topics by identity.
    pub topics: BTreeMap<TopicId, Topic>,
    /// Topic identities by name.
    pub topic_ids: BTreeMap<String, TopicId>,
    /// Registered brokers.
    pub brokers: BTreeMap<BrokerId, Broker>,
    /// Registered controllers.
    pub controllers: BTreeMap<BrokerId, RegisterControllerRecord>,
    /// Configurations that were set, by resource and property.
    pub configs: BTreeMap<Resource, BTreeMap<String, String>>,
    /// Finalized feature levels.
    pub features: BTreeMap<String, i16>,
    /// The first producer id that was never given away.
    pub next_producer_id: i64,
}

impl Broker {
    /// True when it may lead and be in an ISR.
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }

    /// Where the listener of this name can be reached.
    pub fn endpoint(&self, listener: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.listener == listener)
    }
}

impl Image {
    /// One partition, by identity.
    pub fn partition(&self, id: PartitionId) -> Option<&Partition> {
        self.topics.get(&id.topic)?.partitions.get(&id.index)
    }

    /// One topic with its identity, by name.
    pub fn topic_named(&self, name: &str) -> Option<(TopicId, &Topic)> {
        let id = *self.topic_ids.get(name)?;
        Some((id, self.topics.get(&id).expect("each name leads to a topic")))
    }

    /// Every partition of every topic, in order of topic identity and index.
    pub fn partitions(&self) -> impl Iterator<Item = (PartitionId, &Partition)> {
        self.topics.iter().flat_map(|(&topic, entry)| {
            let id = move |index: &i32| PartitionId { topic, index: *index };
            entry.partitions.iter().map(move |(index, partition)| (id(index), partition))
        })
    }

    /// True when the broker is registered, unfenced and not in controlled shutdown.
    pub fn is_active(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(Broker::is_active)
    }

    /// The value that was set for this property of this resource, if one was.
    pub fn config(&self, resource: &Resource, name: &str) -> Option<&str> {
        self.configs.get(resource)?.get(name).map(String::as_str)
    }
}
