//! Fetches from consumers and followers: what they may read, and what they confirm by it.

use super::env::Env;
use super::epoch_cache::EpochEnd;
use super::error::ReplicaError;
use super::leadership::Follower;
use super::log_state::LogBounds;
use super::output::Outputs;
use super::{Replica, Role};
use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, Offset};

/// How far a reader sees (rule 58).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Everything written: replicas.
    LogEnd,
    /// Everything committed: read_uncommitted consumers.
    HighWatermark,
    /// Everything decided: read_committed consumers (rule 48).
    LastStable,
}

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A follower; its fetch confirms what it holds.
    Follower {
        /// Its id.
        id: BrokerId,
        /// Its incarnation; -1 in requests that carry none.
        epoch: BrokerEpoch,
    },
    /// A consumer that reads from the leader only.
    Consumer(Isolation),
    /// A consumer that may read from a follower (KIP-392), or the debugging reader.
    Anywhere(Isolation),
}

/// One partition of a fetch request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchQuery {
    /// Who asks.
    pub reader: Reader,
    /// Where to read from.
    pub offset: Offset,
    /// The leader epoch that the reader believes in, when it says so (rule 12).
    pub leader_epoch: Option<LeaderEpoch>,
    /// The epoch of the reader's last record, when it says so (rule 9).
    pub last_fetched_epoch: Option<LeaderEpoch>,
}

/// What a fetch may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchAnswer {
    /// Records from the query's offset up to `upto`, exclusive; none when they are equal.
    Readable {
        /// The first offset that is not to be served.
        upto: Offset,
        /// Bytes of the batches in that range; more than any fetch takes when that is unknown.
        bytes: u64,
        /// What to tell the reader of the log.
        bounds: LogBounds,
    },
    /// No records: the reader's history ends before its offset (rule 9).
    Diverging {
        /// The largest common epoch as far as this side knows, and its end.
        end: EpochEnd,
        /// What to tell the reader of the log.
        bounds: LogBounds,
    },
}

impl Reader {
    /// How far it sees.
    pub fn isolation(&self) -> Isolation {
        match self {
            Reader::Follower { .. } => Isolation::LogEnd,
            Reader::Consumer(isolation) | Reader::Anywhere(isolation) => *isolation,
        }
    }
}

impl Replica {
    /// A fetch arrives: what it may have; a follower's also confirms what it holds.
    pub fn fetch(
        &mut self,
        env: &Env,
        query: &FetchQuery,
        out: &mut Outputs,
    ) -> Result<FetchAnswer, ReplicaError> {
        let answer = self.readable(env, query)?;
        let Reader::Follower { id, epoch } = query.reader else { return Ok(answer) };
        if matches!(answer, FetchAnswer::Diverging { .. }) {
            return Ok(answer);
        }
        self.confirm(env, id, epoch, query.offset)?;
        self.propose_addition(env, id, out);
        self.advance_high_watermark(env, out);
        self.readable(env, query)
    }

    /// What a fetch may have now; confirms nothing. Also for fetches that have waited.
    pub fn readable(&self, env: &Env, query: &FetchQuery) -> Result<FetchAnswer, ReplicaError> {
        self.check_reader(env, query)?;
        let bounds = self.log.bounds();
        let offset = query.offset;
        if offset < bounds.log_start {
            return Err(ReplicaError::OffsetOutOfRange);
        }
        if let Some(epoch) = query.last_fetched_epoch {
            let fetched = EpochEnd { epoch, end: offset };
            let diverging = (env.rules.diverges)(&self.log.epochs, bounds.log_end, fetched)?;
            if let Some(end) = diverging {
                return Ok(FetchAnswer::Diverging { end, bounds });
            }
        }
        if offset > bounds.log_end {
            return Err(ReplicaError::OffsetOutOfRange);
        }
        let bound = (env.rules.fetch_bound)(query.reader.isolation(), &bounds);
        let upto = (env.rules.read_end)(bound, self.log.segment_of(bound)).max(offset);
        let bytes = self.log.bytes_between(offset, upto);
        Ok(FetchAnswer::Readable { upto, bytes, bounds })
    }

    /// The reader's leader epoch, and whether it may read here (rules 12, 35, 58). A follower must
    /// be assigned.
    fn check_reader(&self, env: &Env, query: &FetchQuery) -> Result<(), ReplicaError> {
        self.usable()?;
        self.check_epoch(env, query.leader_epoch)?;
        match (&self.role, query.reader) {
            (Role::Idle, _) => Err(ReplicaError::NotLeaderOrFollower),
            (_, Reader::Anywhere(_)) => Ok(()),
            (_, Reader::Consumer(_)) => self.leading().map(|_| ()),
            (_, Reader::Follower { id, .. }) => match self.leading()?.followers.get(&id) {
                Some(_) => Ok(()),
                // It may know of an assignment that is still on its way to this replica.
                None if query.leader_epoch.is_some() => Err(ReplicaError::UnknownLeaderEpoch),
                None => Err(ReplicaError::NotLeaderOrFollower),
            },
        }
    }

    /// Rule 12, for every request that may carry a leader epoch.
    pub(super) fn check_epoch(
        &self,
        env: &Env,
        asked: Option<LeaderEpoch>,
    ) -> Result<(), ReplicaError> {
        match (asked, &self.state) {
            (Some(asked), Some(state)) => (env.rules.check_leader_epoch)(asked, state.leader_epoch),
            _ => Ok(()),
        }
    }

    /// Notes how far a follower got; an unknown one, or an older incarnation, counts for nothing.
    fn confirm(
        &mut self,
        env: &Env,
        id: BrokerId,
        epoch: BrokerEpoch,
        offset: Offset,
    ) -> Result<(), ReplicaError> {
        let leader_end = self.log.written;
        let registered = env.brokers.get(&id).map(|b| b.epoch);
        let outdated = epoch.0 >= 0 && registered.is_some_and(|known| epoch < known);
        let Role::Leader(leadership) = &mut self.role else {
            return Err(ReplicaError::NotLeaderOrFollower);
        };
        let follower: Option<&mut Follower> = leadership.followers.get_mut(&id);
        match follower.filter(|_| !outdated) {
            Some(follower) => follower.fetched(env, offset, leader_end, epoch),
            None => return Err(ReplicaError::NotLeaderOrFollower),
        }
        Ok(())
    }
}
