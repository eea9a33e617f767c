//! What the controller answers.

use super::request::PartitionRef;
use crate::error::{ErrorCode, Refusal};
use crate::metadata::record::Resource;
use crate::types::{BrokerEpoch, BrokerId, PartitionId, PartitionState, TopicId};

/// The answer to the [`super::Request`] of the same name, each result in the request's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The broker's new epoch.
    RegisterBroker(Result<BrokerEpoch, Refusal>),
    /// What the broker has to do now.
    Heartbeat(Result<HeartbeatReply, Refusal>),
    /// The outcome for the whole request, or for each partition.
    AlterPartition(Result<Vec<IsrOutcome>, Refusal>),
    /// The block of producer ids.
    AllocateProducerIds(Result<ProducerIdBlock, Refusal>),
    /// Each topic's name and outcome.
    CreateTopics(Vec<(String, Result<CreatedTopic, Refusal>)>),
    /// Each topic as it was asked for and what was deleted: its name and identity.
    DeleteTopics(Vec<Result<(String, TopicId), Refusal>>),
    /// Each partition's outcome; `Ok` means that a leader was elected.
    ElectLeaders(Vec<(PartitionRef, Result<(), Refusal>)>),
    /// Each partition's outcome.
    AlterReassignments(Vec<(PartitionRef, Result<(), Refusal>)>),
    /// The reassignments under way.
    ListReassignments(Vec<OngoingReassignment>),
    /// Each resource's outcome.
    AlterConfigs(Vec<(Resource, Result<(), Refusal>)>),
    /// Whether the broker was taken out.
    UnregisterBroker(Result<(), Refusal>),
    /// The controller lost its leadership, or is not active: ask the new one.
    NotController,
}

/// What a broker has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// True when it has applied its own registration.
    pub caught_up: bool,
    /// True while it is fenced.
    pub fenced: bool,
    /// True when it may stop now.
    pub should_shut_down: bool,
}

/// The outcome for one partition of AlterPartition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrOutcome {
    /// Which partition.
    pub partition: PartitionId,
    /// The state that is now committed, or why the proposal was refused.
    pub result: Result<PartitionState, ErrorCode>,
}

/// A block of producer ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerIdBlock {
    /// The first id.
    pub first: i64,
    /// How many.
    pub len: i32,
}

/// A topic that was, or would be, created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTopic {
    /// Its identity; zero when nothing was created.
    pub id: TopicId,
    /// How many partitions.
    pub partitions: i32,
    /// How many replicas of each.
    pub replication_factor: i16,
    /// The settings that were set on it.
    pub configs: Vec<(String, String)>,
}

/// One reassignment under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OngoingReassignment {
    /// Which partition.
    pub partition: PartitionRef,
    /// All replicas at the moment.
    pub replicas: Vec<BrokerId>,
    /// Those that come.
    pub adding: Vec<BrokerId>,
    /// Those that go.
    pub removing: Vec<BrokerId>,
}
