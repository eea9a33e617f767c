//! From the core's metadata records to Kafka's.

use highwater_node_core::metadata::Record;
use highwater_node_core::metadata::record as core;
use highwater_node_core::types::BrokerId;
use highwater_wire::metadata as wire;
use highwater_wire::metadata::MetadataRecord;
use uuid::Uuid;

/// The record in Kafka's shape.
pub(super) fn to_wire(record: &Record) -> MetadataRecord {
    match record {
        Record::Topic(r) => topic(r).into(),
        Record::Partition(r) => partition(r).into(),
        Record::PartitionChange(r) => partition_change(r).into(),
        Record::RemoveTopic(id) => {
            wire::RemoveTopicRecord { topic_id: Uuid::from_u128(id.0) }.into()
        }
        Record::Config(r) => config(r).into(),
        Record::RegisterBroker(r) => register_broker(r).into(),
        Record::BrokerRegistrationChange(r) => registration_change(r).into(),
        Record::UnregisterBroker(r) => {
            let (broker_id, broker_epoch) = (r.broker.0, r.broker_epoch.0);
            wire::UnregisterBrokerRecord { broker_id, broker_epoch }.into()
        }
        Record::FeatureLevel(r) => {
            let name = r.name.clone();
            wire::FeatureLevelRecord { name, feature_level: r.level }.into()
        }
        Record::ProducerIds(r) => producer_ids(r).into(),
        Record::RegisterController(r) => register_controller(r).into(),
        Record::NoOp => wire::NoOpRecord {}.into(),
        Record::BeginTransaction(name) => {
            wire::BeginTransactionRecord { name: name.clone() }.into()
        }
        Record::EndTransaction => wire::EndTransactionRecord {}.into(),
        Record::AbortTransaction(reason) => {
            wire::AbortTransactionRecord { reason: reason.clone() }.into()
        }
    }
}

fn topic(r: &core::TopicRecord) -> wire::TopicRecord {
    wire::TopicRecord { name: r.name.clone(), topic_id: Uuid::from_u128(r.id.0) }
}

fn partition(r: &core::PartitionRecord) -> wire::PartitionRecord {
    wire::PartitionRecord {
        partition_id: r.partition.index,
        topic_id: Uuid::from_u128(r.partition.topic.0),
        replicas: numbers(&r.replicas),
        isr: numbers(&r.isr),
        removing_replicas: numbers(&r.removing),
        adding_replicas: numbers(&r.adding),
        leader: leader(r.leader),
        leader_epoch: r.leader_epoch.0,
        partition_epoch: r.partition_epoch.0,
        directories: directories(&r.directories),
        leader_recovery_state: i8::from(r.recovering),
        eligible_leader_replicas: some_unless_empty(&r.elr),
        last_known_elr: some_unless_empty(&r.last_known_elr),
    }
}

fn partition_change(r: &core::PartitionChangeRecord) -> wire::PartitionChangeRecord {
    let list = |brokers: &Option<Vec<BrokerId>>| brokers.as_deref().map(numbers);
    wire::PartitionChangeRecord {
        partition_id: r.partition.index,
        topic_id: Uuid::from_u128(r.partition.topic.0),
        isr: list(&r.isr),
        leader: r.leader.map_or(wire::LEADER_UNCHANGED, leader),
        replicas: list(&r.replicas),
        removing_replicas: list(&r.removing),
        adding_replicas: list(&r.adding),
        leader_recovery_state: r.recovering.map_or(wire::RECOVERY_UNCHANGED, i8::from),
        eligible_leader_replicas: list(&r.elr),
        last_known_elr: list(&r.last_known_elr),
        directories: r.directories.as_deref().map(directories),
    }
}

fn config(r: &core::ConfigRecord) -> wire::ConfigRecord {
    let (resource_type, resource_name) = match &r.resource {
        core::Resource::Topic(name) => (super::from_wire::TOPIC, name.clone()),
        core::Resource::Broker(None) => (super::from_wire::BROKER, String::new()),
        core::Resource::Broker(Some(id)) => (super::from_wire::BROKER, id.to_string()),
        core::Resource::Other(kind, name) => (*kind, name.clone()),
    };
    let (name, value) = (r.name.clone(), r.value.clone());
    wire::ConfigRecord { resource_type, resource_name, name, value }
}

fn register_broker(r: &core::RegisterBrokerRecord) -> wire::RegisterBrokerRecord {
    wire::RegisterBrokerRecord {
        broker_id: r.broker.0,
        is_migrating_zk_broker: false,
        incarnation_id: Uuid::from_u128(r.incarnation.0),
        broker_epoch: r.broker_epoch.0,
        end_points: endpoints(&r.endpoints),
        features: features(&r.features),
        rack: r.rack.clone(),
        fenced: r.fenced,
        in_controlled_shutdown: r.in_controlled_shutdown,
        log_dirs: directories(&r.log_dirs),
        cordoned_log_dirs: None,
    }
}

fn registration_change(
    r: &core::BrokerRegistrationChangeRecord,
) -> wire::BrokerRegistrationChangeRecord {
    wire::BrokerRegistrationChangeRecord {
        broker_id: r.broker.0,
        broker_epoch: r.broker_epoch.0,
        fenced: r.fenced.map_or(0, |fenced| if fenced { 1 } else { -1 }),
        in_controlled_shutdown: i8::from(r.in_controlled_shutdown),
        ..wire::BrokerRegistrationChangeRecord::default()
    }
}

fn producer_ids(r: &core::ProducerIdsRecord) -> wire::ProducerIdsRecord {
    wire::ProducerIdsRecord {
        broker_id: r.broker.0,
        broker_epoch: r.broker_epoch.0,
        next_producer_id: r.next_producer_id,
    }
}

fn register_controller(r: &core::RegisterControllerRecord) -> wire::RegisterControllerRecord {
    wire::RegisterControllerRecord {
        controller_id: r.controller.0,
        incarnation_id: Uuid::from_u128(r.incarnation.0),
        zk_migration_ready: false,
        end_points: endpoints(&r.endpoints),
        features: features(&r.features),
    }
}

fn leader(leader: Option<BrokerId>) -> i32 {
    leader.map_or(wire::NO_LEADER, |id| id.0)
}

fn numbers(brokers: &[BrokerId]) -> Vec<i32> {
    brokers.iter().map(|id| id.0).collect()
}

fn some_unless_empty(brokers: &[BrokerId]) -> Option<Vec<i32>> {
    (!brokers.is_empty()).then(|| numbers(brokers))
}

fn directories(ids: &[core::DirectoryId]) -> Vec<Uuid> {
    ids.iter().map(|id| Uuid::from_u128(id.0)).collect()
}

fn endpoints(endpoints: &[core::Endpoint]) -> Vec<wire::Endpoint> {
    let endpoint = |e: &core::Endpoint| wire::Endpoint {
        name: e.listener.clone(),
        host: e.host.clone(),
        port: e.port,
        security_protocol: e.security_protocol,
    };
    endpoints.iter().map(endpoint).collect()
}

fn features(features: &[core::FeatureRange]) -> Vec<wire::FeatureRange> {
    let feature = |f: &core::FeatureRange| wire::FeatureRange {
        name: f.name.clone(),
        min_supported_version: f.min,
        max_supported_version: f.max,
    };
    features.iter().map(feature).collect()
}
