//! What a step of a replica asks for and reports.

use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionEpoch};

/// The outputs of one step, in order.
pub type Outputs = Vec<Output>;

/// One thing to do or to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Cut the log to this end; answered by `Replica::truncated`.
    Truncate {
        /// The new log end.
        to: Offset,
    },
    /// Throw the log away and start at this offset; answered by `Replica::truncated`.
    TruncateFully {
        /// The new log start and log end.
        start: Offset,
    },
    /// Note on disk that this epoch begins at this offset (rule 5); has no answer.
    EpochStarted {
        /// The epoch that this broker now leads.
        epoch: LeaderEpoch,
        /// Where its records will begin.
        start: Offset,
    },
    /// Ask the controller for another ISR; answered by `Replica::isr_answered` (rule 22).
    ProposeIsr(IsrProposal),
    /// The high watermark rose, or stepped back with a truncation (rule 18).
    HighWatermarkMoved {
        /// Its new value.
        to: Offset,
    },
    /// The log end that others may see moved.
    LogEndMoved {
        /// Its new value.
        to: Offset,
    },
    /// Something that waiting requests depend on has changed: role, epoch, ISR or min ISR.
    StandingChanged,
    /// One line for the log.
    Event(ReplicaEvent),
}

/// A change of the ISR that the leader proposes, and the state that it is based on (rule 22).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrProposal {
    /// The proposed members in assignment order, with the incarnation that the leader knows;
    /// -1 where it knows none.
    pub isr: Vec<(BrokerId, BrokerEpoch)>,
    /// The epoch of the leader that asks.
    pub leader_epoch: LeaderEpoch,
    /// The partition state that the proposal would replace.
    pub partition_epoch: PartitionEpoch,
}

/// What happened to a replica that an operator may ask about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaEvent {
    /// It leads.
    Leads {
        /// Its epoch.
        epoch: LeaderEpoch,
        /// Where its epoch begins.
        start: Offset,
        /// Its high watermark.
        high_watermark: Offset,
    },
    /// It follows.
    Follows {
        /// Whom; `None` while the partition has no leader.
        leader: Option<BrokerId>,
        /// In which epoch.
        epoch: LeaderEpoch,
    },
    /// It cut its log.
    Truncated {
        /// The log end before.
        from: Offset,
        /// The log end after.
        to: Offset,
        /// The high watermark before the cut.
        high_watermark: Offset,
    },
    /// The committed ISR changed while it leads.
    IsrChanged {
        /// The members in assignment order.
        isr: Vec<BrokerId>,
        /// The version of the partition's state.
        partition_epoch: PartitionEpoch,
    },
    /// Its disk failed; it serves nothing until the broker is restarted.
    Failed,
}
