//! The follower's side of one link: which partitions to fetch from a leader, and what to make of
//! its answers (rules 8 to 13).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::replica::{BatchMeta, Env, EpochEnd, FollowerPosition, Outputs, Replica, Replicas};
use crate::rule::truncation::LeaderRange;
use crate::types::{BrokerId, LeaderEpoch, Offset, PartitionId, Time};

/// The wait before a leader is asked again that has not heard of its epoch: a broker learns of an
/// election within a few milliseconds of another.
const TOO_EARLY_MS: u64 = 10;

/// How many requests may be under way to one leader.
pub const LANES: usize = 2;

/// Fetches from one leader for all partitions that this broker follows there.
///
/// A partition is in one request at a time, and its next one waits until the disk holds what the
/// last one brought, because a fetch confirms what lies below its offset (rule 16). The second lane
/// is for partitions that come while a request waits at the leader for news of the others.
#[derive(Debug)]
pub struct Fetcher {
    leader: BrokerId,
    back_off_ms: u64,
    partitions: BTreeMap<PartitionId, Tracked>,
    /// Which lanes have a request under way.
    busy: [bool; LANES],
    /// No request before this time, after one failed as a whole.
    ready_at: Time,
}

/// One partition of a fetcher.
#[derive(Debug)]
struct Tracked {
    leader_epoch: LeaderEpoch,
    /// Not fetched before this time, after an error of this partition.
    ready_at: Time,
    /// The leader is being asked for its range.
    asks_range: bool,
    /// The lane whose request asks for it.
    lane: Option<Lane>,
}

/// One of the requests that may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(pub usize);

/// A request to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which lane it takes; to be given back by [`Fetcher::request_ended`].
    pub lane: Lane,
    /// What it asks for; never empty.
    pub asked: Vec<Asked>,
}

/// One partition of a fetch request, and proof against late answers (rule 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The partition.
    pub partition: PartitionId,
    /// Where the replica was when the request went out.
    pub position: FollowerPosition,
}

/// A leader's answer for one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched<'a> {
    /// Records, perhaps none.
    Records {
        /// The whole batches of the answer.
        batches: &'a [BatchMeta],
        /// The leader's high watermark.
        high_watermark: Offset,
    },
    /// The leader's history ends before the position.
    Diverging(EpochEnd),
    /// OFFSET_OUT_OF_RANGE.
    OutOfRange,
    /// The leader does not know of its epoch yet: its metadata comes any moment.
    TooEarly,
    /// Any other error.
    Refused,
}

/// What the caller has to do for one partition of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing.
    Nothing,
    /// Write the batches.
    Write,
    /// Ask the leader for its log start and log end.
    AskRange,
}

impl Fetcher {
    /// A fetcher with no partitions; `back_off_ms` is `replica.fetch.backoff.ms`.
    pub fn new(leader: BrokerId, back_off_ms: u64) -> Fetcher {
        let partitions = BTreeMap::new();
        Fetcher { leader, back_off_ms, partitions, busy: [false; LANES], ready_at: Time(0) }
    }

    /// Fetches this partition from now on; a new epoch starts afresh.
    pub fn add(&mut self, partition: PartitionId, leader_epoch: LeaderEpoch) {
        let known = self.partitions.get(&partition).map(|t| t.leader_epoch);
        if known != Some(leader_epoch) {
            let fresh = Tracked { leader_epoch, ready_at: Time(0), asks_range: false, lane: None };
            self.partitions.insert(partition, fresh);
        }
    }

    /// Fetches this partition no more; answers that are under way are not used (rule 10).
    pub fn remove(&mut self, partition: PartitionId) {
        self.partitions.remove(&partition);
    }

    /// The next request; `None` while there is nothing to ask or a reason to wait.
    pub fn next_request(&mut self, now: Time, replicas: &dyn Replicas) -> Option<Request> {
        let lane = Lane(self.busy.iter().position(|busy| !busy)?);
        if now < self.ready_at || self.awaits_disk(replicas) {
            return None;
        }
        let ready = |t: &Tracked| t.lane.is_none() && !t.asks_range && t.ready_at <= now;
        let ready = self.partitions.iter().filter(|(_, tracked)| ready(tracked));
        let asked: Vec<Asked> =
            ready.filter_map(|(partition, _)| self.ask(*partition, replicas)).collect();
        if asked.is_empty() {
            return None;
        }
        self.busy[lane.0] = true;
        for one in &asked {
            self.track(one.partition, |tracked| tracked.lane = Some(lane));
        }
        Some(Request { lane, asked })
    }

    fn ask(&self, partition: PartitionId, replicas: &dyn Replicas) -> Option<Asked> {
        let position = replicas.replica(partition)?.position()?;
        (position.leader == self.leader).then_some(Asked { partition, position })
    }

    /// True while the disk is at work for a partition that no request asks for.
    fn awaits_disk(&self, replicas: &dyn Replicas) -> bool {
        let idle = self.partitions.iter().filter(|(_, tracked)| tracked.lane.is_none());
        idle.filter_map(|(id, _)| replicas.replica(*id)).any(Replica::awaits_disk)
    }

    /// The request of this lane has been answered, or has failed; then all wait for a back-off.
    ///
    /// To be called after the answers of its partitions were taken in.
    pub fn request_ended(&mut self, now: Time, lane: Lane, failed: bool) {
        debug_assert!(self.busy[lane.0], "a request ends once");
        self.busy[lane.0] = false;
        for tracked in self.partitions.values_mut().filter(|t| t.lane == Some(lane)) {
            tracked.lane = None;
        }
        if failed {
            self.ready_at = now.plus_ms(self.back_off_ms);
        }
    }

    /// Takes in the answer for one partition.
    pub fn answered(
        &mut self,
        env: &Env,
        asked: &Asked,
        replica: &mut Replica,
        answer: Fetched,
        out: &mut Outputs,
    ) -> Taken {
        if !self.is_current(asked, replica) {
            return Taken::Nothing;
        }
        match answer {
            Fetched::Records { batches, high_watermark } if fits(batches, &asked.position) => {
                replica.copied(env, batches, high_watermark, out);
                if batches.is_empty() { Taken::Nothing } else { Taken::Write }
            }
            Fetched::Diverging(end) => {
                replica.diverged(env, end, out);
                Taken::Nothing
            }
            Fetched::OutOfRange => {
                self.track(asked.partition, |tracked| tracked.asks_range = true);
                Taken::AskRange
            }
            Fetched::TooEarly => {
                self.back_off(env.now, asked.partition, TOO_EARLY_MS.min(self.back_off_ms));
                Taken::Nothing
            }
            Fetched::Records { .. } | Fetched::Refused => {
                self.back_off(env.now, asked.partition, self.back_off_ms);
                Taken::Nothing
            }
        }
    }

    /// Takes in the leader's range, or that it could not be had.
    pub fn range_answered(
        &mut self,
        env: &Env,
        asked: &Asked,
        replica: &mut Replica,
        range: Option<LeaderRange>,
        out: &mut Outputs,
    ) {
        let current = self.is_current(asked, replica);
        self.track(asked.partition, |tracked| tracked.asks_range = false);
        match range.filter(|_| current) {
            Some(range) => {
                replica.out_of_range(env, range, out);
                if replica.position() == Some(asked.position) {
                    // Nothing was cut: only time can change the leader's answer.
                    self.back_off(env.now, asked.partition, self.back_off_ms);
                }
            }
            None => self.back_off(env.now, asked.partition, self.back_off_ms),
        }
    }

    /// When to call [`Fetcher::next_request`] again, if a back-off is what it waits for.
    pub fn next_wake(&self, now: Time) -> Option<Time> {
        let idle = self.partitions.values().filter(|tracked| tracked.lane.is_none());
        let waiting = idle.map(|tracked| tracked.ready_at.max(self.ready_at));
        // One that is ready and still was not asked for waits for something else than time.
        waiting.filter(|ready_at| *ready_at > now).min()
    }

    /// Same owner, same epoch, same position as when it was asked (rules 10, 13).
    pub fn is_current(&self, asked: &Asked, replica: &Replica) -> bool {
        let tracked = self.partitions.get(&asked.partition);
        tracked.is_some_and(|t| t.leader_epoch == asked.position.leader_epoch)
            && replica.position() == Some(asked.position)
    }

    fn back_off(&mut self, now: Time, partition: PartitionId, ms: u64) {
        let until = now.plus_ms(ms);
        self.track(partition, |tracked| tracked.ready_at = until);
    }

    fn track(&mut self, partition: PartitionId, change: impl FnOnce(&mut Tracked)) {
        if let Some(tracked) = self.partitions.get_mut(&partition) {
            change(tracked);
        }
    }
}

/// True when the batches go on from the position in order, with epochs that never fall (rules 3
/// and 13).
fn fits(batches: &[BatchMeta], position: &FollowerPosition) -> bool {
    let starts = batches.iter().map(|b| b.base_offset);
    let ends = std::iter::once(position.offset).chain(batches.iter().map(BatchMeta::next_offset));
    let epochs = batches.iter().map(|batch| Some(batch.leader_epoch));
    starts.zip(ends).all(|(start, end)| start >= end)
        && std::iter::once(position.last_fetched_epoch).chain(epochs).is_sorted()
}
