//! How the quorum's leader answers a fetch of the metadata log.

use super::voter::{Quorum, QuorumOutput};
use crate::error::ErrorCode;
use crate::replica::EpochEnd;
use crate::types::{BrokerId, LeaderEpoch, Offset, Time};

/// How long an observer that fetches no more is remembered, as in Kafka.
const OBSERVER_SILENCE_MS: u64 = 300_000;

/// How many fetchers are remembered; more are served all the same. Any peer may name any number.
const MEMBERS_MAX: usize = 1_000;

/// A fetch of the metadata log by a voter or an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataFetch {
    /// Who fetches; negative for a reader that is no member.
    pub replica: BrokerId,
    /// From where; a voter has synced everything below (rule 70).
    pub offset: Offset,
    /// The epoch of the batch before that offset; `None` when the caller has none or does not say.
    pub last_epoch: Option<LeaderEpoch>,
    /// The epoch that the fetcher takes for the current one; `None` is unchecked.
    pub current_epoch: Option<LeaderEpoch>,
}

/// How a fetch is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchAnswer {
    /// Records from the fetch offset up to `end`, with the high watermark.
    Read {
        /// What this fetcher may have: all of the log as a voter, what is committed otherwise.
        end: Offset,
        /// What is committed.
        high_watermark: Offset,
    },
    /// The fetcher's log differs from the leader's: it must cut (rule 9).
    Diverging(EpochEnd),
    /// Refused.
    Refused(ErrorCode),
}

/// What the leader knows of one fetcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The end of its log: its last fetch offset.
    pub log_end: Offset,
    /// When it fetched last.
    pub fetched_at: Time,
    /// When its fetch last reached the end of the leader's log.
    pub caught_up_at: Option<Time>,
}

impl Quorum {
    /// Answers a fetch, and counts what it confirms (rule 70).
    pub fn fetch(
        &mut self,
        now: Time,
        fetch: MetadataFetch,
        out: &mut Vec<QuorumOutput>,
    ) -> FetchAnswer {
        if let Err(code) = self.check_fetcher(fetch) {
            return FetchAnswer::Refused(code);
        }
        if let Some(end) = self.diverges(fetch) {
            return FetchAnswer::Diverging(end);
        }
        if fetch.offset > self.log_end || fetch.offset < Offset(0) {
            return FetchAnswer::Refused(ErrorCode::OffsetOutOfRange);
        }
        if fetch.replica.0 >= 0 {
            self.note(now, fetch);
            self.advance(out);
        }
        let votes = self.voters.0.contains(&fetch.replica);
        let end = if votes { self.log_end } else { self.high_watermark };
        FetchAnswer::Read { end, high_watermark: self.high_watermark }
    }

    /// What the leader knows of those who fetched from it in this leadership; who is no voter is
    /// forgotten after five minutes of silence.
    pub fn members(&self, now: Time) -> impl Iterator<Item = (BrokerId, Member)> {
        let current = move |(id, member): &(&BrokerId, &Member)| self.is_current(now, **id, member);
        self.members.iter().filter(current).map(|(id, member)| (*id, *member))
    }

    fn is_current(&self, now: Time, id: BrokerId, member: &Member) -> bool {
        let silence = now.since(member.fetched_at);
        self.voters.0.contains(&id) || silence <= OBSERVER_SILENCE_MS * 1_000_000
    }

    fn check_fetcher(&self, fetch: MetadataFetch) -> Result<(), ErrorCode> {
        if !self.is_leader() {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        match fetch.current_epoch {
            Some(epoch) if epoch < self.state.epoch => Err(ErrorCode::FencedLeaderEpoch),
            Some(epoch) if epoch > self.state.epoch => Err(ErrorCode::UnknownLeaderEpoch),
            _ => Ok(()),
        }
    }

    /// Where the largest common epoch ends here, when the fetcher holds what this log does not.
    fn diverges(&self, fetch: MetadataFetch) -> Option<EpochEnd> {
        let epoch = fetch.last_epoch?;
        let newest = self.epochs.latest().unwrap_or_default();
        let whole = EpochEnd { epoch: newest, end: self.log_end };
        let here = self.epochs.end_of(epoch, self.log_end).unwrap_or(whole);
        (here.epoch != epoch || here.end < fetch.offset).then_some(here)
    }

    fn note(&mut self, now: Time, fetch: MetadataFetch) {
        let before = self.members.get(&fetch.replica).copied();
        if before.is_none() && !self.has_room(now, fetch.replica) {
            return;
        }
        let caught_up_at = match before {
            _ if fetch.offset >= self.log_end => Some(now),
            before => before.and_then(|member| member.caught_up_at),
        };
        let member = Member { log_end: fetch.offset, fetched_at: now, caught_up_at };
        self.members.insert(fetch.replica, member);
    }

    /// Forgets the silent; true when this one more may be remembered.
    fn has_room(&mut self, now: Time, new: BrokerId) -> bool {
        let silent = |(id, member): (&BrokerId, &Member)| {
            (!self.is_current(now, *id, member)).then_some(*id)
        };
        for id in self.members.iter().filter_map(silent).collect::<Vec<_>>() {
            self.members.remove(&id);
        }
        self.voters.0.contains(&new) || self.members.len() < MEMBERS_MAX
    }
}
