//! From what a request names to a partition, and from a refusal to an error code.

use highwater_node_core::replica::ReplicaError;
use highwater_node_core::types::{PartitionId, TopicId};
use highwater_wire::ErrorCode;

use crate::node::Node;

/// How a request names a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TopicRef {
    /// By name, in older versions.
    Name(String),
    /// By identity (rule 76).
    Id(TopicId),
}

/// The partition that a request means, if the metadata has it.
pub(crate) fn resolve(node: &Node, topic: &TopicRef, index: i32) -> Result<PartitionId, ErrorCode> {
    let image = node.broker().image();
    let (id, known) = match topic {
        TopicRef::Name(name) => {
            image.topic_named(name).ok_or(ErrorCode::UnknownTopicOrPartition)?
        }
        TopicRef::Id(id) => (*id, image.topics.get(id).ok_or(ErrorCode::UnknownTopicId)?),
    };
    match known.partitions.contains_key(&index) {
        true => Ok(PartitionId { topic: id, index }),
        false => Err(ErrorCode::UnknownTopicOrPartition),
    }
}

/// What a client is told of a replica's refusal.
pub(crate) fn error_code(error: ReplicaError) -> ErrorCode {
    match error {
        ReplicaError::NotLeaderOrFollower => ErrorCode::NotLeaderOrFollower,
        ReplicaError::FencedLeaderEpoch => ErrorCode::FencedLeaderEpoch,
        ReplicaError::UnknownLeaderEpoch => ErrorCode::UnknownLeaderEpoch,
        ReplicaError::OffsetOutOfRange => ErrorCode::OffsetOutOfRange,
        ReplicaError::OffsetNotAvailable => ErrorCode::OffsetNotAvailable,
        ReplicaError::NotEnoughReplicas => ErrorCode::NotEnoughReplicas,
        ReplicaError::NotEnoughReplicasAfterAppend => ErrorCode::NotEnoughReplicasAfterAppend,
        ReplicaError::RequestTimedOut => ErrorCode::RequestTimedOut,
        ReplicaError::OutOfOrderSequenceNumber => ErrorCode::OutOfOrderSequenceNumber,
        ReplicaError::InvalidProducerEpoch => ErrorCode::InvalidProducerEpoch,
        ReplicaError::UnknownTopicOrPartition => ErrorCode::UnknownTopicOrPartition,
        ReplicaError::KafkaStorageError => ErrorCode::KafkaStorageError,
    }
}
