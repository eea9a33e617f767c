//! Applies records to an image, in order, and says what they changed (rule 75).

use super::delta::Delta;
use super::image::{Broker, Image, Topic};
use super::partition::Partition;
use super::record::{
    BrokerRegistrationChangeRecord, ConfigRecord, PartitionChangeRecord, PartitionRecord, Record,
    RegisterBrokerRecord, Resource, TopicRecord, UnregisterBrokerRecord,
};
use crate::types::{BrokerEpoch, BrokerId, Offset, PartitionId, TopicId};

/// A record that does not fit what was replayed before it: the log or its reader is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The record lies below what was applied already.
    #[error("offset {found} comes after everything below {end} was applied")]
    Backwards {
        /// The end of what was applied.
        end: Offset,
        /// The record's offset.
        found: Offset,
    },
    /// The topic does not exist.
    #[error("offset {at}: topic {topic:?} does not exist")]
    NoTopic {
        /// The record's offset.
        at: Offset,
        /// The topic that the record names.
        topic: TopicId,
    },
    /// The topic exists already.
    #[error("offset {at}: a topic {name} exists already")]
    TopicExists {
        /// The record's offset.
        at: Offset,
        /// The name that is taken.
        name: String,
    },
    /// The partition does not exist.
    #[error("offset {at}: partition {partition:?} does not exist")]
    NoPartition {
        /// The record's offset.
        at: Offset,
        /// The partition that the record names.
        partition: PartitionId,
    },
    /// The broker is not registered with that epoch.
    #[error("offset {at}: broker {broker} is not registered with that epoch")]
    NoBroker {
        /// The record's offset.
        at: Offset,
        /// The broker that the record names.
        broker: BrokerId,
    },
    /// A transaction's begin or end stands where it may not.
    #[error("offset {at}: a transaction of records begins or ends out of place")]
    Transaction {
        /// The record's offset.
        at: Offset,
    },
}

/// An image, and the records of a transaction that has not ended yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    image: Image,
    open: Option<Vec<(Offset, Record)>>,
}

impl Replay {
    /// The image as of the last record that took effect.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Applies the record at `offset`; what changed is added to `delta`. Offsets rise; control
    /// batches leave gaps.
    pub fn apply(
        &mut self,
        offset: Offset,
        record: Record,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        match (&mut self.open, record) {
            (None, Record::BeginTransaction(_)) => self.open = Some(Vec::new()),
            (Some(_), Record::EndTransaction) => return self.end_transaction(offset, delta),
            (Some(_), Record::AbortTransaction(_)) => self.open = None,
            (Some(_), Record::BeginTransaction(_))
            | (None, Record::EndTransaction | Record::AbortTransaction(_)) => {
                return Err(ReplayError::Transaction { at: offset });
            }
            (Some(held), record) => held.push((offset, record)),
            (None, record) => self.image.apply(offset, &record, delta)?,
        }
        Ok(())
    }

    /// Everything below `end` was seen: also the control batches that no record stands for.
    pub fn seen(&mut self, end: Offset) {
        if self.open.is_none() {
            self.image.end = self.image.end.max(end);
        }
    }

    fn end_transaction(&mut self, end: Offset, delta: &mut Delta) -> Result<(), ReplayError> {
        for (offset, record) in self.open.take().unwrap_or_default() {
            self.image.apply(offset, &record, delta)?;
        }
        self.image.end = end.next();
        Ok(())
    }
}

impl Image {
    /// Applies one record that belongs to no transaction.
    pub(crate) fn apply(
        &mut self,
        at: Offset,
        record: &Record,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        if at < self.end {
            return Err(ReplayError::Backwards { end: self.end, found: at });
        }
        match record {
            Record::Topic(record) => self.create_topic(at, record)?,
            Record::Partition(record) => self.create_partition(at, record, delta)?,
            Record::PartitionChange(record) => self.change_partition(at, record, delta)?,
            Record::RemoveTopic(topic) => self.remove_topic(at, *topic, delta)?,
            Record::Config(record) => self.set_config(record, delta),
            Record::RegisterBroker(record) => self.register_broker(record, delta),
            Record::BrokerRegistrationChange(record) => self.change_broker(at, record, delta)?,
            Record::UnregisterBroker(record) => self.unregister_broker(at, record, delta)?,
            Record::FeatureLevel(record) => {
                self.features.insert(record.name.clone(), record.level);
            }
            Record::ProducerIds(record) => self.next_producer_id = record.next_producer_id,
            Record::RegisterController(record) => {
                self.controllers.insert(record.controller, record.clone());
            }
            Record::NoOp => {}
            Record::BeginTransaction(_) | Record::EndTransaction | Record::AbortTransaction(_) => {
                return Err(ReplayError::Transaction { at });
            }
        }
        self.end = at.next();
        Ok(())
    }

    fn create_topic(&mut self, at: Offset, record: &TopicRecord) -> Result<(), ReplayError> {
        if self.topic_ids.contains_key(&record.name) || self.topics.contains_key(&record.id) {
            return Err(ReplayError::TopicExists { at, name: record.name.clone() });
        }
        self.topic_ids.insert(record.name.clone(), record.id);
        let topic = Topic { name: record.name.clone(), ..Topic::default() };
        self.topics.insert(record.id, topic);
        Ok(())
    }

    fn create_partition(
        &mut self,
        at: Offset,
        record: &PartitionRecord,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        let PartitionId { topic, index } = record.partition;
        let entry = self.topics.get_mut(&topic).ok_or(ReplayError::NoTopic { at, topic })?;
        entry.partitions.insert(index, Partition::create(record));
        delta.partitions.insert(record.partition);
        Ok(())
    }

    fn change_partition(
        &mut self,
        at: Offset,
        record: &PartitionChangeRecord,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        let PartitionId { topic, index } = record.partition;
        let partition = self.topics.get_mut(&topic).and_then(|t| t.partitions.get_mut(&index));
        let missing = ReplayError::NoPartition { at, partition: record.partition };
        partition.ok_or(missing)?.change(record);
        delta.partitions.insert(record.partition);
        Ok(())
    }

    fn remove_topic(
        &mut self,
        at: Offset,
        topic: TopicId,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        let gone = self.topics.remove(&topic).ok_or(ReplayError::NoTopic { at, topic })?;
        self.topic_ids.remove(&gone.name);
        self.configs.remove(&Resource::Topic(gone.name.clone()));
        delta.partitions.retain(|partition| partition.topic != topic);
        delta.configs.remove(&Resource::Topic(gone.name.clone()));
        delta.removed_topics.insert(topic, gone.name);
        Ok(())
    }

    fn set_config(&mut self, record: &ConfigRecord, delta: &mut Delta) {
        let properties = self.configs.entry(record.resource.clone()).or_default();
        match &record.value {
            Some(value) => properties.insert(record.name.clone(), value.clone()),
            None => properties.remove(&record.name),
        };
        if properties.is_empty() {
            self.configs.remove(&record.resource);
        }
        delta.configs.insert(record.resource.clone());
    }

    fn register_broker(&mut self, record: &RegisterBrokerRecord, delta: &mut Delta) {
        let broker = Broker {
            epoch: record.broker_epoch,
            incarnation: record.incarnation,
            endpoints: record.endpoints.clone(),
            features: record.features.clone(),
            rack: record.rack.clone(),
            fenced: record.fenced,
            in_controlled_shutdown: record.in_controlled_shutdown,
            log_dirs: record.log_dirs.clone(),
        };
        self.brokers.insert(record.broker, broker);
        delta.brokers.insert(record.broker);
    }

    fn change_broker(
        &mut self,
        at: Offset,
        record: &BrokerRegistrationChangeRecord,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        let broker = self.registered(at, record.broker, record.broker_epoch)?;
        if let Some(fenced) = record.fenced {
            broker.fenced = fenced;
        }
        broker.in_controlled_shutdown |= record.in_controlled_shutdown;
        delta.brokers.insert(record.broker);
        Ok(())
    }

    fn unregister_broker(
        &mut self,
        at: Offset,
        record: &UnregisterBrokerRecord,
        delta: &mut Delta,
    ) -> Result<(), ReplayError> {
        self.registered(at, record.broker, record.broker_epoch)?;
        self.brokers.remove(&record.broker);
        delta.brokers.insert(record.broker);
        Ok(())
    }

    fn registered(
        &mut self,
        at: Offset,
        broker: BrokerId,
        epoch: BrokerEpoch,
    ) -> Result<&mut Broker, ReplayError> {
        let entry = self.brokers.get_mut(&broker).filter(|entry| entry.epoch == epoch);
        entry.ok_or(ReplayError::NoBroker { at, broker })
    }
}
