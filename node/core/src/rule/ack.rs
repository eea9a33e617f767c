//! Rules 36, 37 and 43: when a write that was appended may be answered.

use crate::replica::ReplicaError;
use crate::types::Offset;

/// Rule 36 for acks=all on a broker that leads.
pub type AckAll = fn(&AckView, last_offset: Offset) -> Ack;

/// Rule 36 for acks=all on a broker that no longer leads.
pub type AckOnStepDown = fn(&AckView, last_offset: Offset) -> Ack;

/// What an acknowledgement depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckView {
    /// True while this broker leads the partition.
    pub leads: bool,
    /// True when the disk failed.
    pub failed: bool,
    /// The high watermark.
    pub high_watermark: Offset,
    /// The end of what is written.
    pub log_end: Offset,
    /// Members of the maximal ISR (rule 16).
    pub maximal_isr: usize,
    /// The effective min ISR (rule 17).
    pub min_isr: usize,
}

/// What to do with a waiting write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// Neither yes nor no yet.
    Wait,
    /// Answer it.
    Answer(Result<(), ReplicaError>),
}

/// acks=1: OK once it is written here, whoever leads by then.
pub fn ack_leader(view: &AckView, last_offset: Offset) -> Ack {
    match () {
        () if view.log_end > last_offset => Ack::Answer(Ok(())),
        () if view.failed => Ack::Answer(Err(ReplicaError::KafkaStorageError)),
        () => Ack::Wait,
    }
}

/// acks=all: OK only below the high watermark and with a maximal ISR of at least min ISR.
pub fn ack_all(view: &AckView, last_offset: Offset) -> Ack {
    if view.high_watermark <= last_offset {
        return Ack::Wait;
    }
    if view.maximal_isr < view.min_isr {
        return Ack::Answer(Err(ReplicaError::NotEnoughReplicasAfterAppend));
    }
    Ack::Answer(Ok(()))
}

/// acks=all after leadership was lost: the record's fate is the next leader's, so the answer is
/// an error even where the record is in this log.
pub fn ack_on_step_down(view: &AckView, _last_offset: Offset) -> Ack {
    Ack::Answer(Err(match view.failed {
        true => ReplicaError::KafkaStorageError,
        false => ReplicaError::NotLeaderOrFollower,
    }))
}
