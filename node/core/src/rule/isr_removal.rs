//! Rule 24: when a follower counts as caught up, and when the leader proposes to drop it.

use crate::types::{Offset, Time};

/// Rule 24, first half: the time at which this fetch shows the follower to have been caught up.
pub type CaughtUpAt = fn(&FetchProgress) -> Option<Time>;

/// Rule 24, second half: is the follower out of sync?
pub type OutOfSync = fn(&Lag) -> bool;

/// One fetch of a follower, compared with the fetch before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchProgress {
    /// When this fetch arrived.
    pub now: Time,
    /// Where it reads from: the end of what the follower holds.
    pub fetch_offset: Offset,
    /// The leader's log end at this fetch.
    pub leader_end: Offset,
    /// When the fetch before arrived, and the leader's log end then.
    pub previous: Option<(Time, Offset)>,
}

/// How far a follower is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The end of what it has confirmed.
    pub log_end: Option<Offset>,
    /// The leader's log end.
    pub leader_end: Offset,
    /// When it last was caught up.
    pub caught_up_at: Option<Time>,
    /// Now.
    pub now: Time,
    /// `replica.lag.time.max.ms`.
    pub limit_ms: u64,
}

/// Caught up is having reached the leader's log end: of now, or of the fetch before.
pub fn caught_up_at(fetch: &FetchProgress) -> Option<Time> {
    if fetch.fetch_offset >= fetch.leader_end {
        return Some(fetch.now);
    }
    fetch.previous.filter(|(_, end)| fetch.fetch_offset >= *end).map(|(at, _)| at)
}

/// Not at the leader's log end, and not caught up within the limit.
pub fn out_of_sync(lag: &Lag) -> bool {
    let within = |at: Time| lag.now.since(at) <= lag.limit_ms.saturating_mul(1_000_000);
    lag.log_end != Some(lag.leader_end) && !lag.caught_up_at.is_some_and(within)
}
