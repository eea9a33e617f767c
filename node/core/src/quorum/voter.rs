//! A voter: stands for election, leads, and moves the high watermark (rules 69 to 72).

use std::collections::BTreeMap;

use super::fetch::Member;
use super::state::{QuorumState, Voters};
use crate::replica::EpochCache;
use crate::rule::Rules;
use crate::rule::metadata_commit::Progress;
use crate::types::{BrokerId, LeaderEpoch, Offset};

/// A voter of the metadata quorum.
#[derive(Clone, Debug)]
pub struct Quorum {
    pub(super) id: BrokerId,
    pub(super) voters: Voters,
    pub(super) state: QuorumState,
    pub(super) role: Role,
    pub(super) epochs: EpochCache,
    pub(super) log_end: Offset,
    pub(super) high_watermark: Offset,
    pub(super) members: BTreeMap<BrokerId, Member>,
    rules: Rules,
    synced: Offset,
}

/// What this voter is at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Neither leads nor stands.
    Unattached,
    /// Voted for itself; the vote is not durable yet.
    Candidate,
    /// Leads since its leader change record at this offset.
    Leader(Offset),
}

/// What a voter is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuorumInput {
    /// The process started, with this much on disk.
    Start {
        /// What the state file held; the default when there is none.
        saved: QuorumState,
        /// The end of the log.
        log_end: Offset,
        /// The epochs of the batches in it.
        epochs: EpochCache,
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

impl Quorum {
    /// A voter that has not looked at its disk yet.
    pub fn new(id: BrokerId, voters: Voters, rules: Rules) -> Quorum {
        Quorum {
            id,
            voters,
            state: QuorumState::default(),
            role: Role::Unattached,
            epochs: EpochCache::default(),
            log_end: Offset(0),
            high_watermark: Offset(0),
            members: BTreeMap::new(),
            rules,
            synced: Offset(0),
        }
    }

    /// Takes one input; what is wanted is added to `out` in order.
    pub fn step(&mut self, input: QuorumInput, out: &mut Vec<QuorumOutput>) {
        match input {
            QuorumInput::Start { saved, log_end, epochs } => {
                self.state = saved;
                self.start(log_end, epochs, out);
            }
            QuorumInput::StateSaved => self.lead(out),
            QuorumInput::Appended(end) => {
                debug_assert!(end >= self.log_end, "a leader's log never shrinks (rule 4)");
                self.log_end = end;
            }
            QuorumInput::Synced(end) => {
                debug_assert!(end <= self.log_end, "more is synced than appended");
                self.synced = self.synced.max(end);
                self.advance(out);
            }
        }
    }

    /// The newest epoch and its leader, as far as this member knows.
    pub fn state(&self) -> QuorumState {
        self.state
    }

    /// Who votes.
    pub fn voters(&self) -> &Voters {
        &self.voters
    }

    /// Whether this voter leads the current epoch.
    pub fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// The offset of the leader change record of this voter's leadership, while it leads.
    pub fn epoch_start(&self) -> Option<Offset> {
        match self.role {
            Role::Leader(start) => Some(start),
            _ => None,
        }
    }

    /// Everything below is committed; 0 until the leader knows.
    pub fn high_watermark(&self) -> Offset {
        self.high_watermark
    }

    /// The end of this voter's log.
    pub fn log_end(&self) -> Offset {
        self.log_end
    }

    /// Checks the whole state; panics with the invariant that does not hold.
    pub fn validate(&self) {
        assert!(self.synced <= self.log_end, "more is synced than appended");
        assert!(self.high_watermark <= self.log_end, "more is committed than written");
        assert!(self.epochs.is_ordered(), "epochs and start offsets rise together");
        let newest = self.epochs.latest();
        assert!(newest <= Some(self.state.epoch), "the log is of a newer epoch than the state");
        if let Role::Leader(start) = self.role {
            assert_eq!(self.state.leader, Some(self.id), "a leader knows that it leads");
            assert_eq!(newest, Some(self.state.epoch), "the leadership is in the epoch cache");
            let passed = self.high_watermark == Offset(0) || self.high_watermark > start;
            assert!(passed, "a commit begins past the epoch's first record (rule 71)");
        }
    }

    /// Stands for election in a new epoch when it is a majority on its own (rule 72).
    fn start(&mut self, log_end: Offset, epochs: EpochCache, out: &mut Vec<QuorumOutput>) {
        self.log_end = log_end;
        self.synced = log_end;
        let newest = epochs.latest();
        self.epochs = epochs;
        if !self.voters.is_majority(self.id) {
            return;
        }
        let epoch = (self.rules.first_epoch)(self.state.epoch, newest);
        self.state = QuorumState { epoch, leader: Some(self.id), voted: Some(self.id) };
        self.role = Role::Candidate;
        out.push(QuorumOutput::SaveState(self.state));
    }

    fn lead(&mut self, out: &mut Vec<QuorumOutput>) {
        if self.role == Role::Candidate {
            self.role = Role::Leader(self.log_end);
            self.epochs.assign(self.state.epoch, self.log_end);
            out.push(QuorumOutput::BecomeLeader(self.state.epoch));
        }
    }

    /// Moves the high watermark to what a majority has synced; never back.
    pub(super) fn advance(&mut self, out: &mut Vec<QuorumOutput>) {
        let Role::Leader(epoch_start) = self.role else { return };
        let end_of = |voter: &BrokerId| {
            if *voter == self.id {
                return self.synced;
            }
            self.members.get(voter).map_or(Offset(0), |member| member.log_end)
        };
        let synced: Vec<Offset> = self.voters.0.iter().map(end_of).collect();
        let committed = (self.rules.committed_end)(Progress { synced: &synced, epoch_start });
        if let Some(end) = committed.filter(|end| *end > self.high_watermark) {
            self.high_watermark = end;
            out.push(QuorumOutput::HighWatermark(end));
        }
    }
}
