//! Rules 9, 14 and 8, the follower's side: where it cuts its log to match the leader's.

use crate::replica::{EpochCache, EpochEnd};
use crate::types::Offset;

/// Rule 9: where to cut after the leader said that histories diverge.
pub type CutPoint = fn(epochs: &EpochCache, log_end: Offset, leader: EpochEnd) -> Offset;

/// Rules 8 and 14: where to cut on becoming a follower, before anything was asked.
pub type CutOnFollow = fn(high_watermark: Offset, log_end: Offset) -> Option<Offset>;

/// Rule 14: what to do when the leader says that the fetch offset is out of its range.
pub type AfterOutOfRange = fn(log_end: Offset, leader: LeaderRange) -> Reset;

/// The leader's log, as it said itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderRange {
    /// Its log start.
    pub start: Offset,
    /// Its log end.
    pub end: Offset,
}

/// How to get back into the leader's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Fetch again from the log end; the leader's range has moved meanwhile.
    Keep,
    /// Cut to this end.
    CutTo(Offset),
    /// Nothing here is of use: throw it away and start here.
    StartAt(Offset),
}

/// The end of the largest epoch that both know; what follows it here is not the leader's.
///
/// When this log lacks the answered epoch it is cut to the end of its own largest smaller one,
/// and the next fetch asks again.
pub fn cut_point(epochs: &EpochCache, log_end: Offset, leader: EpochEnd) -> Offset {
    match epochs.end_of(leader.epoch, log_end) {
        Some(own) if own.epoch == leader.epoch => own.end.min(leader.end).min(log_end),
        Some(own) => own.end.min(log_end),
        None => leader.end.min(log_end),
    }
}

/// A follower cuts nothing on its own: its high watermark trails, so it would cut what is
/// committed.
pub fn cut_on_follow(_high_watermark: Offset, _log_end: Offset) -> Option<Offset> {
    None
}

/// Only a log that ends below the leader's start is thrown away.
pub fn after_out_of_range(log_end: Offset, leader: LeaderRange) -> Reset {
    match () {
        () if leader.end < log_end => Reset::CutTo(leader.end),
        () if leader.start > log_end => Reset::StartAt(leader.start),
        () => Reset::Keep,
    }
}
