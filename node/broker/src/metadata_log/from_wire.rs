//! From Kafka's metadata records to the core's.

use highwater_node_core::metadata::Record;
use highwater_node_core::metadata::record as core;
use highwater_node_core::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch, PartitionId, TopicId,
};
use highwater_wire::metadata as wire;
use highwater_wire::metadata::MetadataRecord;
use uuid::Uuid;

/// Kafka's number of topics among configurations' resources.
pub(super) const TOPIC: i8 = 2;
/// Kafka's number of brokers among configurations' resources.
pub(super) const BROKER: i8 = 4;

/// The record in the core's shape; `None` for a kind that no log of ours can hold: it belongs to a
/// feature that is off.
pub(super) fn from_wire(record: MetadataRecord) -> Option<Record> {
    Some(match record {
        MetadataRecord::Topic(r) => {
            let id = topic_id(r.topic_id);
            Record::Topic(core::TopicRecord { name: r.name, id })
        }
        MetadataRecord::Partition(r) => Record::Partition(partition(r)),
        MetadataRecord::PartitionChange(r) => Record::PartitionChange(partition_change(r)),
        MetadataRecord::RemoveTopic(r) => Record::RemoveTopic(topic_id(r.topic_id)),
        MetadataRecord::Config(r) => Record::Config(config(r)),
        MetadataRecord::RegisterBroker(r) => Record::RegisterBroker(register_broker(r)),
        MetadataRecord::BrokerRegistrationChange(r) => {
            let fenced = (r.fenced != 0).then_some(r.fenced > 0);
            let stops = r.in_controlled_shutdown > 0;
            registration_change(r.broker_id, r.broker_epoch, fenced, stops)
        }
        MetadataRecord::FenceBroker(r) => registration_change(r.id, r.epoch, Some(true), false),
        MetadataRecord::UnfenceBroker(r) => registration_change(r.id, r.epoch, Some(false), false),
        MetadataRecord::UnregisterBroker(r) => {
            let (broker, broker_epoch) = (BrokerId(r.broker_id), BrokerEpoch(r.broker_epoch));
            Record::UnregisterBroker(core::UnregisterBrokerRecord { broker, broker_epoch })
        }
        MetadataRecord::FeatureLevel(r) => {
            let (name, level) = (r.name, r.feature_level);
            Record::FeatureLevel(core::FeatureLevelRecord { name, level })
        }
        MetadataRecord::ProducerIds(r) => Record::ProducerIds(core::ProducerIdsRecord {
            broker: BrokerId(r.broker_id),
            broker_epoch: BrokerEpoch(r.broker_epoch),
            next_producer_id: r.next_producer_id,
        }),
        MetadataRecord::RegisterController(r) => Record::RegisterController(register_controller(r)),
        MetadataRecord::NoOp(_) => Record::NoOp,
        MetadataRecord::BeginTransaction(r) => Record::BeginTransaction(r.name),
        MetadataRecord::EndTransaction(_) => Record::EndTransaction,
        MetadataRecord::AbortTransaction(r) => Record::AbortTransaction(r.reason),
        MetadataRecord::ClearElr(_) => return None,
    })
}

fn partition(r: wire::PartitionRecord) -> core::PartitionRecord {
    let unassigned = || vec![Uuid::nil(); r.replicas.len()];
    let directories = if r.directories.is_empty() { unassigned() } else { r.directories.clone() };
    core::PartitionRecord {
        partition: partition_id(r.topic_id, r.partition_id),
        directories: directory_ids(directories),
        replicas: brokers(r.replicas),
        isr: brokers(r.isr),
        removing: brokers(r.removing_replicas),
        adding: brokers(r.adding_replicas),
        leader: leader(r.leader),
        recovering: r.leader_recovery_state == 1,
        leader_epoch: LeaderEpoch(r.leader_epoch),
        partition_epoch: PartitionEpoch(r.partition_epoch),
        elr: brokers(r.eligible_leader_replicas.unwrap_or_default()),
        last_known_elr: brokers(r.last_known_elr.unwrap_or_default()),
    }
}

fn partition_change(r: wire::PartitionChangeRecord) -> core::PartitionChangeRecord {
    let recovery = r.leader_recovery_state;
    core::PartitionChangeRecord {
        partition: partition_id(r.topic_id, r.partition_id),
        isr: r.isr.map(brokers),
        leader: (r.leader != wire::LEADER_UNCHANGED).then(|| leader(r.leader)),
        replicas: r.replicas.map(brokers),
        removing: r.removing_replicas.map(brokers),
        adding: r.adding_replicas.map(brokers),
        recovering: (recovery != wire::RECOVERY_UNCHANGED).then_some(recovery == 1),
        directories: r.directories.map(directory_ids),
        elr: r.eligible_leader_replicas.map(brokers),
        last_known_elr: r.last_known_elr.map(brokers),
    }
}

fn config(r: wire::ConfigRecord) -> core::ConfigRecord {
    let resource = resource_of(r.resource_type, r.resource_name);
    core::ConfigRecord { resource, name: r.name, value: r.value }
}

/// What a configuration belongs to, from Kafka's number and name; a broker's name is its id, or
/// empty for all brokers.
pub(crate) fn resource_of(kind: i8, name: String) -> core::Resource {
    match (kind, name.parse()) {
        (TOPIC, _) => core::Resource::Topic(name),
        (BROKER, Ok(id)) => core::Resource::Broker(Some(BrokerId(id))),
        (BROKER, Err(_)) if name.is_empty() => core::Resource::Broker(None),
        (kind, _) => core::Resource::Other(kind, name),
    }
}

fn register_broker(r: wire::RegisterBrokerRecord) -> core::RegisterBrokerRecord {
    core::RegisterBrokerRecord {
        broker: BrokerId(r.broker_id),
        incarnation: core::IncarnationId(r.incarnation_id.as_u128()),
        broker_epoch: BrokerEpoch(r.broker_epoch),
        endpoints: endpoints(r.end_points),
        features: features(r.features),
        rack: r.rack,
        fenced: r.fenced,
        in_controlled_shutdown: r.in_controlled_shutdown,
        log_dirs: directory_ids(r.log_dirs),
    }
}

fn register_controller(r: wire::RegisterControllerRecord) -> core::RegisterControllerRecord {
    core::RegisterControllerRecord {
        controller: BrokerId(r.controller_id),
        incarnation: core::IncarnationId(r.incarnation_id.as_u128()),
        endpoints: endpoints(r.end_points),
        features: features(r.features),
    }
}

fn registration_change(broker: i32, epoch: i64, fenced: Option<bool>, stops: bool) -> Record {
    Record::BrokerRegistrationChange(core::BrokerRegistrationChangeRecord {
        broker: BrokerId(broker),
        broker_epoch: BrokerEpoch(epoch),
        fenced,
        in_controlled_shutdown: stops,
    })
}

fn topic_id(id: Uuid) -> TopicId {
    TopicId(id.as_u128())
}

fn partition_id(topic: Uuid, index: i32) -> PartitionId {
    PartitionId { topic: topic_id(topic), index }
}

fn leader(id: i32) -> Option<BrokerId> {
    (id != wire::NO_LEADER).then_some(BrokerId(id))
}

fn brokers(ids: Vec<i32>) -> Vec<BrokerId> {
    ids.into_iter().map(BrokerId).collect()
}

fn directory_ids(ids: Vec<Uuid>) -> Vec<core::DirectoryId> {
    ids.into_iter().map(|id| core::DirectoryId(id.as_u128())).collect()
}

fn endpoints(endpoints: Vec<wire::Endpoint>) -> Vec<core::Endpoint> {
    let endpoint = |e: wire::Endpoint| core::Endpoint {
        listener: e.name,
        host: e.host,
        port: e.port,
        security_protocol: e.security_protocol,
    };
    endpoints.into_iter().map(endpoint).collect()
}

fn features(features: Vec<wire::FeatureRange>) -> Vec<core::FeatureRange> {
    let feature = |f: wire::FeatureRange| core::FeatureRange {
        name: f.name,
        min: f.min_supported_version,
        max: f.max_supported_version,
    };
    features.into_iter().map(feature).collect()
}
