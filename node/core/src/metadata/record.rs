//! The records of the metadata log, in the core's types; the wire crate knows their bytes.

use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch, PartitionId, TopicId};

/// The identity of one log directory of one broker (KIP-858).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(pub u128);

/// The identity of one run of one process (KIP-631).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IncarnationId(pub u128);

/// One change of the cluster's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A topic came to be; its partitions follow.
    Topic(TopicRecord),
    /// A partition came to be.
    Partition(PartitionRecord),
    /// A partition changed.
    PartitionChange(PartitionChangeRecord),
    /// A topic and all its partitions are gone.
    RemoveTopic(TopicId),
    /// A configuration was set or removed.
    Config(ConfigRecord),
    /// A broker process registered.
    RegisterBroker(RegisterBrokerRecord),
    /// A registered broker was fenced, unfenced, or began its controlled shutdown.
    BrokerRegistrationChange(BrokerRegistrationChangeRecord),
    /// A broker left the cluster for good.
    UnregisterBroker(UnregisterBrokerRecord),
    /// A feature's level was finalized.
    FeatureLevel(FeatureLevelRecord),
    /// A block of producer ids was given away (rule 46).
    ProducerIds(ProducerIdsRecord),
    /// A controller process registered.
    RegisterController(RegisterControllerRecord),
    /// Nothing changed.
    NoOp,
    /// The records up to the matching end apply together; the text names the purpose.
    BeginTransaction(Option<String>),
    /// The records since the beginning apply now.
    EndTransaction,
    /// The records since the beginning never apply; the text says why.
    AbortTransaction(Option<String>),
}

/// A topic came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicRecord {
    /// Its name.
    pub name: String,
    /// Its identity.
    pub id: TopicId,
}

/// A partition came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionRecord {
    /// Which one.
    pub partition: PartitionId,
    /// Replicas in assignment order.
    pub replicas: Vec<BrokerId>,
    /// The log directory of each replica, in the same order.
    pub directories: Vec<DirectoryId>,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// Replicas that a reassignment takes away.
    pub removing: Vec<BrokerId>,
    /// Replicas that a reassignment brings.
    pub adding: Vec<BrokerId>,
    /// The leader, if there is one.
    pub leader: Option<BrokerId>,
    /// True while the leader recovers from an unclean election (rule 28).
    pub recovering: bool,
    /// The epoch of this leadership.
    pub leader_epoch: LeaderEpoch,
    /// The version of the partition's state.
    pub partition_epoch: PartitionEpoch,
    /// The eligible leader replicas (rule 29); none while the feature is off.
    pub elr: Vec<BrokerId>,
    /// The last known leader, when ISR and ELR are empty (rule 28).
    pub last_known_elr: Vec<BrokerId>,
}

/// What changed of a partition; `None` is no change. The partition epoch rises with each (rule 25).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionChangeRecord {
    /// Which one.
    pub partition: PartitionId,
    /// The new in-sync replicas.
    pub isr: Option<Vec<BrokerId>>,
    /// The new leader, or that there is none; naming a leader raises the leader epoch.
    pub leader: Option<Option<BrokerId>>,
    /// The new replicas.
    pub replicas: Option<Vec<BrokerId>>,
    /// The replicas that a reassignment now takes away.
    pub removing: Option<Vec<BrokerId>>,
    /// The replicas that a reassignment now brings.
    pub adding: Option<Vec<BrokerId>>,
    /// Whether the leader recovers from an unclean election.
    pub recovering: Option<bool>,
    /// The new log directory of each replica.
    pub directories: Option<Vec<DirectoryId>>,
    /// The new eligible leader replicas.
    pub elr: Option<Vec<BrokerId>>,
    /// The new last known leader.
    pub last_known_elr: Option<Vec<BrokerId>>,
}

/// What a configuration belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// A topic by its name.
    Topic(String),
    /// One broker, or all brokers of the cluster (`None`).
    Broker(Option<BrokerId>),
    /// A kind that this node stores but does not know: its number and name.
    Other(i8, String),
}

/// A configuration was set or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigRecord {
    /// Whose.
    pub resource: Resource,
    /// The property.
    pub name: String,
    /// Its value; `None` removes it.
    pub value: Option<String>,
}

/// Where a broker or controller can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The listener's name.
    pub listener: String,
    /// The advertised host.
    pub host: String,
    /// The advertised port.
    pub port: u16,
    /// Kafka's number of the security protocol; 0 is PLAINTEXT.
    pub security_protocol: i16,
}

/// The levels of a feature that a process can work at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureRange {
    /// The feature.
    pub name: String,
    /// The lowest level.
    pub min: i16,
    /// The highest level.
    pub max: i16,
}

/// A broker process registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterBrokerRecord {
    /// Its `node.id`.
    pub broker: BrokerId,
    /// The run of the process.
    pub incarnation: IncarnationId,
    /// Its epoch: the offset of this record.
    pub broker_epoch: BrokerEpoch,
    /// Where it can be reached.
    pub endpoints: Vec<Endpoint>,
    /// What it can work at.
    pub features: Vec<FeatureRange>,
    /// Its rack, if it has one.
    pub rack: Option<String>,
    /// True until it has caught up with the metadata.
    pub fenced: bool,
    /// True while it hands over its leaderships.
    pub in_controlled_shutdown: bool,
    /// Its log directories.
    pub log_dirs: Vec<DirectoryId>,
}

/// A registered broker was fenced, unfenced, or began its controlled shutdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerRegistrationChangeRecord {
    /// Which broker.
    pub broker: BrokerId,
    /// Which registration.
    pub broker_epoch: BrokerEpoch,
    /// Fenced or unfenced; `None` is no change.
    pub fenced: Option<bool>,
    /// True when its controlled shutdown begins; it never ends but by a new registration.
    pub in_controlled_shutdown: bool,
}

/// A broker left the cluster for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnregisterBrokerRecord {
    /// Which broker.
    pub broker: BrokerId,
    /// Which registration.
    pub broker_epoch: BrokerEpoch,
}

/// A feature's level was finalized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureLevelRecord {
    /// The feature.
    pub name: String,
    /// Its level; 0 is off.
    pub level: i16,
}

/// A block of producer ids was given away (rule 46).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerIdsRecord {
    /// To which broker.
    pub broker: BrokerId,
    /// To which registration of it.
    pub broker_epoch: BrokerEpoch,
    /// The first id of the next block.
    pub next_producer_id: i64,
}

/// A controller process registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterControllerRecord {
    /// Its `node.id`.
    pub controller: BrokerId,
    /// The run of the process.
    pub incarnation: IncarnationId,
    /// Where it can be reached.
    pub endpoints: Vec<Endpoint>,
    /// What it can work at.
    pub features: Vec<FeatureRange>,
}
