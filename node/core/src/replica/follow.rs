//! The follower's side: where to fetch, taking in what the leader sends, cutting (rules 8 to 15).

use super::batch::BatchMeta;
use super::env::Env;
use super::epoch_cache::EpochEnd;
use super::output::{Output, Outputs, ReplicaEvent};
use super::producers::Producers;
use super::{Replica, Role};
use crate::rule::truncation::{LeaderRange, Reset};
use crate::types::{BrokerId, LeaderEpoch, Offset};

/// Where a follower goes on reading, and from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerPosition {
    /// The leader to fetch from.
    pub leader: BrokerId,
    /// The epoch of that leader.
    pub leader_epoch: LeaderEpoch,
    /// The next offset: the end of what the disk holds.
    pub offset: Offset,
    /// The epoch of the last record; `None` for an empty log.
    pub last_fetched_epoch: Option<LeaderEpoch>,
    /// The log start, which the leader is told.
    pub log_start: Offset,
}

/// A cut that the disk has not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The log ends here.
    To(Offset),
    /// The log is empty and starts here.
    StartAt(Offset),
}

impl Replica {
    /// Where to fetch next; `None` unless it follows somebody and is not waiting for the disk.
    pub fn position(&self) -> Option<FollowerPosition> {
        let Role::Follower { leader: Some(leader), epoch, .. } = self.role else { return None };
        let settled = self.log.written == self.log.appended && self.usable().is_ok();
        settled.then(|| FollowerPosition {
            leader,
            leader_epoch: epoch,
            offset: self.log.appended,
            last_fetched_epoch: self.log.epochs.latest(),
            log_start: self.log.log_start,
        })
    }

    /// True while an append or a cut of a follower is with the disk.
    pub fn awaits_disk(&self) -> bool {
        !self.failed && (self.cutting.is_some() || self.log.written < self.log.appended)
    }

    /// Takes in the batches that the leader sent for [`Replica::position`], unchanged (rule 1).
    ///
    /// The caller writes them and calls [`Replica::written`] when that is done. The high watermark
    /// follows after the write (rule 18).
    pub fn copied(
        &mut self,
        env: &Env,
        batches: &[BatchMeta],
        leader_high_watermark: Offset,
        out: &mut Outputs,
    ) {
        debug_assert!(self.position().is_some(), "only a settled follower copies");
        for batch in batches {
            self.log.append(batch);
        }
        let Role::Follower { leader_high_watermark: known, .. } = &mut self.role else { return };
        *known = leader_high_watermark;
        self.follow_high_watermark(env, leader_high_watermark, out);
    }

    /// A follower's high watermark is the leader's, up to what is written here (rule 18).
    pub(super) fn follow_high_watermark(&mut self, env: &Env, leaders: Offset, out: &mut Outputs) {
        let next = (env.rules.follower_high_watermark)(leaders, self.log.written);
        self.set_high_watermark(next.max(self.log.high_watermark), out);
    }

    /// The leader said that histories diverge: cut to the common end (rules 9, 11).
    pub fn diverged(&mut self, env: &Env, leader: EpochEnd, out: &mut Outputs) {
        let to = (env.rules.cut_point)(&self.log.epochs, self.log.appended, leader);
        self.cut(to, out);
    }

    /// The leader said that the position is out of its range, and what its range is (rule 14).
    pub fn out_of_range(&mut self, env: &Env, leader: LeaderRange, out: &mut Outputs) {
        match (env.rules.after_out_of_range)(self.log.appended, leader) {
            Reset::Keep => {}
            Reset::CutTo(to) => self.cut(to, out),
            Reset::StartAt(start) => {
                self.cutting = Some(Cut::StartAt(start));
                out.push(Output::TruncateFully { start });
            }
        }
    }

    /// Asks the disk to cut; also a cut at the log end, which trims epochs only (rule 5).
    pub(super) fn cut(&mut self, to: Offset, out: &mut Outputs) {
        let to = to.max(self.log.log_start);
        debug_assert!(self.cutting.is_none(), "one cut at a time");
        debug_assert!(to <= self.log.appended, "a cut never lengthens the log");
        self.cutting = Some(Cut::To(to));
        out.push(Output::Truncate { to });
    }

    /// The disk has cut; `producers` is what the rest of the log says of them (rule 15).
    pub fn truncated(&mut self, env: &Env, producers: Producers, out: &mut Outputs) {
        let Some(cut) = self.cutting.take() else { return };
        let (from, high_watermark) = (self.log.appended, self.log.high_watermark);
        let to = cut.log_end();
        match cut {
            Cut::To(end) => self.log.cut(end, producers),
            Cut::StartAt(start) => self.log.restart_at(start),
        }
        out.push(Output::Event(ReplicaEvent::Truncated { from, to, high_watermark }));
        out.push(Output::LogEndMoved { to });
        if self.log.high_watermark != high_watermark {
            out.push(Output::HighWatermarkMoved { to: self.log.high_watermark });
        }
        self.take_role(env, out);
        out.push(Output::StandingChanged);
    }
}

impl Cut {
    fn log_end(&self) -> Offset {
        match self {
            Cut::To(end) => *end,
            Cut::StartAt(start) => *start,
        }
    }
}
