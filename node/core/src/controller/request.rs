//! What brokers and operators ask of the controller.

use crate::metadata::record::{DirectoryId, Endpoint, FeatureRange, IncarnationId, Resource};
use crate::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionEpoch, PartitionId, TopicId,
};

/// One request; its answer is the [`super::Reply`] of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A broker process wants to be part of the cluster.
    RegisterBroker(RegisterBroker),
    /// A registered broker is alive.
    Heartbeat(Heartbeat),
    /// Leaders propose in-sync replicas (rule 22).
    AlterPartition(AlterPartition),
    /// A broker needs producer ids (rule 46).
    AllocateProducerIds {
        /// Which broker.
        broker: BrokerId,
        /// Which registration of it.
        broker_epoch: BrokerEpoch,
    },
    /// An operator creates topics.
    CreateTopics(CreateTopics),
    /// An operator deletes topics.
    DeleteTopics(Vec<TopicRef>),
    /// An operator asks for elections.
    ElectLeaders(ElectLeaders),
    /// An operator changes assignments.
    AlterReassignments(Vec<Reassignment>),
    /// An operator asks which reassignments are under way.
    ListReassignments(Option<Vec<PartitionRef>>),
    /// An operator changes configurations.
    AlterConfigs(AlterConfigs),
    /// An operator takes a broker out of the cluster for good.
    UnregisterBroker(BrokerId),
}

/// A broker process wants to be part of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterBroker {
    /// Its `node.id`.
    pub broker: BrokerId,
    /// The cluster that it belongs to.
    pub cluster_id: String,
    /// The run of the process.
    pub incarnation: IncarnationId,
    /// Where it can be reached.
    pub endpoints: Vec<Endpoint>,
    /// What it can work at.
    pub features: Vec<FeatureRange>,
    /// Its rack, if it has one.
    pub rack: Option<String>,
    /// Its log directories.
    pub log_dirs: Vec<DirectoryId>,
    /// The epoch that it had when it last stopped cleanly; `None` cannot prove it (rule 31).
    pub previous_epoch: Option<BrokerEpoch>,
}

/// A registered broker is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Which broker.
    pub broker: BrokerId,
    /// Which registration of it.
    pub broker_epoch: BrokerEpoch,
    /// The offset of the last metadata record that it applied.
    pub metadata_offset: Offset,
    /// True while it wants to be fenced.
    pub want_fence: bool,
    /// True when it wants to stop (rule 33).
    pub want_shutdown: bool,
}

/// Leaders propose in-sync replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterPartition {
    /// Which broker asks.
    pub broker: BrokerId,
    /// Which registration of it.
    pub broker_epoch: BrokerEpoch,
    /// One change a partition.
    pub changes: Vec<IsrChange>,
}

/// The ISR that the leader of one partition proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrChange {
    /// Which partition.
    pub partition: PartitionId,
    /// The epoch of the leadership that proposes.
    pub leader_epoch: LeaderEpoch,
    /// The proposed replicas, each with the broker epoch that the leader saw; `None` is unchecked.
    pub isr: Vec<(BrokerId, Option<BrokerEpoch>)>,
    /// True while the leader recovers from an unclean election.
    pub recovering: bool,
    /// The state that the proposal starts from.
    pub partition_epoch: PartitionEpoch,
}

/// An operator creates topics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTopics {
    /// The topics, in the request's order.
    pub topics: Vec<NewTopic>,
    /// Decide as if, change nothing.
    pub validate_only: bool,
    /// Decides identities and placement; random in a process, seeded in a simulation.
    pub seed: u64,
}

/// One topic to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions; -1 is the default.
    pub partitions: i32,
    /// How many replicas of each; -1 is the default.
    pub replication_factor: i16,
    /// Replicas of each partition, when the operator places them: (index, replicas).
    pub assignments: Vec<(i32, Vec<BrokerId>)>,
    /// Settings of the topic.
    pub configs: Vec<(String, Option<String>)>,
}

/// A topic by name or by identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicRef {
    /// By its name.
    Name(String),
    /// By its identity.
    Id(TopicId),
}

/// A partition by its topic's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartitionRef {
    /// The topic.
    pub topic: String,
    /// The partition.
    pub index: i32,
}

/// Which leader an election looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionKind {
    /// The first assigned replica.
    Preferred,
    /// Any live replica, also one that lost data (rule 27).
    Unclean,
}

/// An operator asks for elections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElectLeaders {
    /// What to look for.
    pub kind: ElectionKind,
    /// Where; `None` is everywhere that needs it.
    pub partitions: Option<Vec<PartitionRef>>,
}

/// A new assignment for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reassignment {
    /// Which partition.
    pub partition: PartitionRef,
    /// The new replicas; `None` cancels.
    pub replicas: Option<Vec<BrokerId>>,
}

/// An operator changes configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterConfigs {
    /// Changes of each resource, applied whole or not at all.
    pub resources: Vec<(Resource, Vec<ConfigChange>)>,
    /// Decide as if, change nothing.
    pub validate_only: bool,
}

/// One change of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    /// The property.
    pub name: String,
    /// What to do with it.
    pub op: ConfigOp,
}

/// What to do with a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigOp {
    /// Give it this value; `None` is refused as Kafka does.
    Set(Option<String>),
    /// Bring back the default.
    Delete,
    /// Add these entries to the list.
    Append(Option<String>),
    /// Take these entries out of the list.
    Subtract(Option<String>),
}
