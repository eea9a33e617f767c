//! Every kind of metadata record that we write or follow, field by field.
//!
//! Field names are those of Kafka's schemas in Rust's spelling; ids and epochs are plain numbers,
//! with -1 for none where Kafka writes it.

use uuid::Uuid;

use super::RecordError;
use super::field::Field;
use super::schema::{RecordBody, get_tagged, part, put_tagged, record};

/// `leader` of a [`PartitionChangeRecord`] that does not change it.
pub const LEADER_UNCHANGED: i32 = -2;
/// `leader` of a partition without one.
pub const NO_LEADER: i32 = -1;
/// `leader_recovery_state` of a [`PartitionChangeRecord`] that does not change it.
pub const RECOVERY_UNCHANGED: i8 = -1;

part! {
    /// Where a broker or controller can be reached.
    Endpoint {
        /// The listener's name.
        name: String;
        /// The host.
        host: String;
        /// The port.
        port: u16;
        /// Kafka's number of the security protocol; 0 is PLAINTEXT.
        security_protocol: i16;
    }
}

part! {
    /// The levels of a feature that a process can work at.
    FeatureRange {
        /// The feature.
        name: String;
        /// The lowest level.
        min_supported_version: i16;
        /// The highest level.
        max_supported_version: i16;
    }
}

record! {
    /// A broker process registered.
    RegisterBrokerRecord = 0, "REGISTER_BROKER_RECORD", up to 4 {
        /// Its `node.id`.
        broker_id: i32, since 0;
        /// Left from the migration away from ZooKeeper: false.
        is_migrating_zk_broker: bool, since 2;
        /// The run of the process.
        incarnation_id: Uuid, since 0;
        /// Its epoch: the offset of this record.
        broker_epoch: i64, since 0;
        /// Where it can be reached.
        end_points: Vec<Endpoint>, since 0;
        /// What it can work at.
        features: Vec<FeatureRange>, since 0;
        /// Its rack, if it has one.
        rack: Option<String>, since 0;
        /// True while it may neither lead nor be in an ISR.
        fenced: bool, since 0;
        /// True while it hands over its leaderships.
        in_controlled_shutdown: bool, since 1;
    } tagged {
        /// Its log directories.
        log_dirs: Vec<Uuid> = Vec::new(), tag 0, since 3;
        /// Log directories that take no new partitions; null when it did not say.
        cordoned_log_dirs: Option<Vec<Uuid>> = None, tag 1, since 4;
    }
}

record! {
    /// A broker left the cluster for good.
    UnregisterBrokerRecord = 1, "UNREGISTER_BROKER_RECORD", up to 0 {
        /// Which broker.
        broker_id: i32, since 0;
        /// Which registration of it.
        broker_epoch: i64, since 0;
    } tagged {}
}

record! {
    /// A topic came to be.
    TopicRecord = 2, "TOPIC_RECORD", up to 0 {
        /// Its name.
        name: String, since 0;
        /// Its identity.
        topic_id: Uuid, since 0;
    } tagged {}
}

record! {
    /// A partition came to be.
    PartitionRecord = 3, "PARTITION_RECORD", up to 2 {
        /// Its index within the topic.
        partition_id: i32, since 0;
        /// The topic's identity.
        topic_id: Uuid, since 0;
        /// Replicas in assignment order.
        replicas: Vec<i32>, since 0;
        /// The in-sync replicas.
        isr: Vec<i32>, since 0;
        /// Replicas that a reassignment takes away.
        removing_replicas: Vec<i32>, since 0;
        /// Replicas that a reassignment brings.
        adding_replicas: Vec<i32>, since 0;
        /// The leader, or [`NO_LEADER`].
        leader: i32, since 0;
        /// The epoch of this leadership.
        leader_epoch: i32, since 0;
        /// The version of the partition's state.
        partition_epoch: i32, since 0;
        /// The log directory of each replica, in assignment order.
        directories: Vec<Uuid>, since 1;
    } tagged {
        /// 1 while the leader recovers from an unclean election.
        leader_recovery_state: i8 = 0, tag 0, since 0;
        /// The eligible leader replicas (KIP-966).
        eligible_leader_replicas: Option<Vec<i32>> = None, tag 1, since 2;
        /// The last known eligible leader replicas.
        last_known_elr: Option<Vec<i32>> = None, tag 2, since 2;
    }
}

record! {
    /// A configuration was set or removed.
    ConfigRecord = 4, "CONFIG_RECORD", up to 0 {
        /// Kafka's number of the kind: 2 is a topic, 4 a broker.
        resource_type: i8, since 0;
        /// The topic's name or the broker's id; empty for all brokers.
        resource_name: String, since 0;
        /// The property.
        name: String, since 0;
        /// Its value; none removes it.
        value: Option<String>, since 0;
    } tagged {}
}

record! {
    /// What changed of a partition.
    PartitionChangeRecord = 5, "PARTITION_CHANGE_RECORD", up to 2 {
        /// Its index within the topic.
        partition_id: i32, since 0;
        /// The topic's identity.
        topic_id: Uuid, since 0;
    } tagged {
        /// The new in-sync replicas.
        isr: Option<Vec<i32>> = None, tag 0, since 0;
        /// The new leader, [`NO_LEADER`], or [`LEADER_UNCHANGED`].
        leader: i32 = LEADER_UNCHANGED, tag 1, since 0;
        /// The new replicas.
        replicas: Option<Vec<i32>> = None, tag 2, since 0;
        /// The replicas that a reassignment now takes away.
        removing_replicas: Option<Vec<i32>> = None, tag 3, since 0;
        /// The replicas that a reassignment now brings.
        adding_replicas: Option<Vec<i32>> = None, tag 4, since 0;
        /// 0 recovered, 1 recovering, or [`RECOVERY_UNCHANGED`].
        leader_recovery_state: i8 = RECOVERY_UNCHANGED, tag 5, since 0;
        /// The new eligible leader replicas (KIP-966).
        eligible_leader_replicas: Option<Vec<i32>> = None, tag 6, since 2;
        /// The new last known eligible leader replicas.
        last_known_elr: Option<Vec<i32>> = None, tag 7, since 2;
        /// The new log directory of each replica.
        directories: Option<Vec<Uuid>> = None, tag 8, since 1;
    }
}

record! {
    /// A broker was fenced (before Kafka 3.3).
    FenceBrokerRecord = 7, "FENCE_BROKER_RECORD", up to 0 {
        /// Which broker.
        id: i32, since 0;
        /// Which registration of it.
        epoch: i64, since 0;
    } tagged {}
}

record! {
    /// A broker was unfenced (before Kafka 3.3).
    UnfenceBrokerRecord = 8, "UNFENCE_BROKER_RECORD", up to 0 {
        /// Which broker.
        id: i32, since 0;
        /// Which registration of it.
        epoch: i64, since 0;
    } tagged {}
}

record! {
    /// A topic is gone.
    RemoveTopicRecord = 9, "REMOVE_TOPIC_RECORD", up to 0 {
        /// The topic's identity.
        topic_id: Uuid, since 0;
    } tagged {}
}

record! {
    /// A feature's level was finalized.
    FeatureLevelRecord = 12, "FEATURE_LEVEL_RECORD", up to 0 {
        /// The feature.
        name: String, since 0;
        /// Its level; 0 is off.
        feature_level: i16, since 0;
    } tagged {}
}

record! {
    /// A block of producer ids was given away.
    ProducerIdsRecord = 15, "PRODUCER_IDS_RECORD", up to 0 {
        /// To which broker.
        broker_id: i32, since 0;
        /// To which registration of it.
        broker_epoch: i64, since 0;
        /// The first id of the next block.
        next_producer_id: i64, since 0;
    } tagged {}
}

record! {
    /// A broker was fenced, unfenced, or began its controlled shutdown.
    BrokerRegistrationChangeRecord = 17, "BROKER_REGISTRATION_CHANGE_RECORD", up to 3 {
        /// Which broker.
        broker_id: i32, since 0;
        /// Which registration of it.
        broker_epoch: i64, since 0;
    } tagged {
        /// -1 unfenced, 0 no change, 1 fenced.
        fenced: i8 = 0, tag 0, since 0;
        /// 0 no change, 1 in controlled shutdown.
        in_controlled_shutdown: i8 = 0, tag 1, since 1;
        /// The new log directories, if any.
        log_dirs: Vec<Uuid> = Vec::new(), tag 2, since 2;
        /// The new cordoned log directories; null is no change.
        cordoned_log_dirs: Option<Vec<Uuid>> = None, tag 3, since 3;
    }
}

record! {
    /// Nothing changed.
    NoOpRecord = 20, "NO_OP_RECORD", up to 0 {} tagged {}
}

record! {
    /// The records up to the matching end apply together.
    BeginTransactionRecord = 23, "BEGIN_TRANSACTION_RECORD", up to 0 {} tagged {
        /// What for.
        name: Option<String> = None, tag 0, since 0;
    }
}

record! {
    /// The records since the beginning apply now.
    EndTransactionRecord = 24, "END_TRANSACTION_RECORD", up to 0 {} tagged {}
}

record! {
    /// The records since the beginning never apply.
    AbortTransactionRecord = 25, "ABORT_TRANSACTION_RECORD", up to 0 {} tagged {
        /// Why.
        reason: Option<String> = None, tag 0, since 0;
    }
}

record! {
    /// A controller process registered.
    RegisterControllerRecord = 27, "REGISTER_CONTROLLER_RECORD", up to 0 {
        /// Its `node.id`.
        controller_id: i32, since 0;
        /// The run of the process.
        incarnation_id: Uuid, since 0;
        /// Left from the migration away from ZooKeeper: false.
        zk_migration_ready: bool, since 0;
        /// Where it can be reached.
        end_points: Vec<Endpoint>, since 0;
        /// What it can work at.
        features: Vec<FeatureRange>, since 0;
    } tagged {}
}

record! {
    /// The eligible leader replicas were cleared.
    ClearElrRecord = 28, "CLEAR_ELR_RECORD", up to 0 {
        /// Of which topic; empty is all.
        topic_name: String, since 0;
    } tagged {}
}
