//! The leader's side of the quorum: elects itself, serves fetches, and moves the high watermark.

use super::state::{QuorumState, Voters};
use crate::error::ErrorCode;
use crate::types::{BrokerId, LeaderEpoch, Offset, Time};

/// A voter of the metadata quorum.
#[derive(Clone, Debug)]
pub struct Quorum {
    id: BrokerId,
    voters: Voters,
    state: QuorumState,
}

/// What a voter is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuorumInput {
    /// The process started: the end of its log, and the epoch of the last batch in it.
    Start {
        /// The end of the log.
        log_end: Offset,
        /// The epoch of the last batch; `None` in an empty log.
        last_epoch: Option<LeaderEpoch>,
    },
    /// The state of [`QuorumOutput::SaveState`] is on disk and synced.
    StateSaved,
    /// The log was appended to, up to this end; not yet synced.
    Appended(Offset),
    /// The log is on disk and synced up to this end (rule 70).
    Synced(Offset),
}

/// What a voter wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuorumOutput {
    /// Write and sync the state, then say [`QuorumInput::StateSaved`].
    SaveState(QuorumState),
    /// This voter leads: append the leader change record of this epoch at the end of the log.
    BecomeLeader(LeaderEpoch),
    /// Everything below this offset is committed (rule 71).
    HighWatermark(Offset),
}

/// A fetch of the metadata log by a voter or an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataFetch {
    /// Who fetches.
    pub replica: BrokerId,
    /// From where; everything below is on its disk.
    pub offset: Offset,
    /// The epoch of the batch before that offset; `None` for an empty log.
    pub last_epoch: Option<LeaderEpoch>,
    /// The epoch that the fetcher takes for the current one; `None` is unchecked.
    pub current_epoch: Option<LeaderEpoch>,
}

/// How a fetch is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchAnswer {
    /// Records from the fetch offset up to `end`, with the high watermark.
    Read {
        /// The end of the leader's log.
        end: Offset,
        /// What is committed.
        high_watermark: Offset,
    },
    /// The fetcher's log differs: it must cut to the end of this epoch (rule 9).
    Diverging {
        /// The largest epoch that both may share.
        epoch: LeaderEpoch,
        /// Where it ends in the leader's log.
        end: Offset,
    },
    /// Refused.
    Refused(ErrorCode),
}

impl Quorum {
    /// A voter with the state that its file held.
    pub fn new(id: BrokerId, voters: Voters, state: QuorumState) -> Quorum {
        Quorum { id, voters, state }
    }

    /// Takes one input; what is wanted is added to `out` in order.
    pub fn step(&mut self, now: Time, input: QuorumInput, out: &mut Vec<QuorumOutput>) {
        let _ = (now, input, out, self.id, &self.voters);
    }

    /// Answers a fetch, and counts what it confirms (rule 70).
    pub fn fetch(
        &mut self,
        now: Time,
        fetch: MetadataFetch,
        out: &mut Vec<QuorumOutput>,
    ) -> FetchAnswer {
        let _ = (now, fetch, out);
        FetchAnswer::Refused(ErrorCode::NotLeaderOrFollower)
    }

    /// The newest epoch and its leader, as far as this member knows.
    pub fn state(&self) -> QuorumState {
        self.state
    }
}
