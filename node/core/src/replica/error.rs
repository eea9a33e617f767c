//! Why a replica refuses: the errors that a client or a follower is told.

/// A refusal; each variant has the name of Kafka's error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicaError {
    /// This broker does not lead the partition, or holds no usable copy.
    #[error("this broker is not the leader of the partition")]
    NotLeaderOrFollower,
    /// The caller's leader epoch is older than this replica's (rule 12).
    #[error("the leader epoch of the request is older than this replica's")]
    FencedLeaderEpoch,
    /// The caller's leader epoch is newer than this replica's (rule 12).
    #[error("the leader epoch of the request is newer than this replica's")]
    UnknownLeaderEpoch,
    /// The offset is below the log start or above the log end (rule 7).
    #[error("the offset is outside of the log")]
    OffsetOutOfRange,
    /// The high watermark has not yet reached the start of this leader's epoch (rule 19).
    #[error("the high watermark has not reached the start of the leader epoch")]
    OffsetNotAvailable,
    /// The ISR is smaller than min ISR; nothing was appended (rule 37).
    #[error("the ISR is smaller than min.insync.replicas")]
    NotEnoughReplicas,
    /// The ISR fell below min ISR after the append (rule 37).
    #[error("the ISR fell below min.insync.replicas after the append")]
    NotEnoughReplicasAfterAppend,
    /// The wait for replication took longer than the request allowed (rule 37).
    #[error("the record was not replicated in time")]
    RequestTimedOut,
    /// A gap, or a repeat older than what is remembered (rules 41, 42).
    #[error("the sequence number is not the next one of this producer")]
    OutOfOrderSequenceNumber,
    /// A newer epoch of this producer has been seen (rule 41).
    #[error("the producer epoch is older than the one last seen")]
    InvalidProducerEpoch,
    /// The broker has no replica of the partition any more.
    #[error("the partition is unknown here")]
    UnknownTopicOrPartition,
    /// The copy on this broker cannot be read or written.
    #[error("the log of the partition failed")]
    KafkaStorageError,
}
