//! The leader's append path, and the disk's confirmation of it (rules 1, 3, 4, 36, 37, 41 to 43).

use super::batch::BatchMeta;
use super::env::Env;
use super::error::ReplicaError;
use super::output::{Output, Outputs};
use super::producers::Remembered;
use super::{Replica, Role};
use crate::types::{LeaderEpoch, Offset};

/// How many copies a producer wants before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// acks=0: it is not answered at all.
    None,
    /// acks=1: the leader's.
    Leader,
    /// acks=all: every in-sync replica's.
    All,
}

/// A client's batch in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of its first record.
    pub base_offset: Offset,
    /// The offset of its last record; an answer to acks=all waits until it is committed.
    pub last_offset: Offset,
    /// The epoch to write into the batch.
    pub leader_epoch: LeaderEpoch,
    /// What it repeats, when it was there already (rule 42): nothing is to be written.
    pub repeat_of: Option<Remembered>,
}

impl Replica {
    /// Gives a client's batch its offsets, or refuses it; a refused batch leaves nothing behind.
    ///
    /// Unless it is a repeat, the caller writes it and calls [`Replica::written`] when that is
    /// done.
    pub fn append(
        &mut self,
        env: &Env,
        batch: &BatchMeta,
        acks: Acks,
    ) -> Result<Appended, ReplicaError> {
        let leadership = self.leading()?;
        let leader_epoch = leadership.epoch;
        let isr = leadership.isr.committed.len();
        (env.rules.admits_append)(acks, isr, self.effective_min_isr())?;
        if let Some(known) = self.log.producers.check(env.rules, batch)? {
            let (base_offset, last_offset) = (known.base_offset, known.last_offset);
            let repeat_of = Some(known);
            return Ok(Appended { base_offset, last_offset, leader_epoch, repeat_of });
        }
        let placed = batch.placed(self.log.appended, leader_epoch);
        self.log.append(&placed);
        let (base_offset, last_offset) = (placed.base_offset, placed.last_offset);
        Ok(Appended { base_offset, last_offset, leader_epoch, repeat_of: None })
    }

    /// The disk put the batches that [`Replica::written`] is about to tell of into the segment
    /// that begins at `start`, the last of them if there are several.
    pub fn in_segment(&mut self, start: Offset) {
        self.log.in_segment(start);
    }

    /// The disk holds everything below `end`; appends are confirmed in their order.
    pub fn written(&mut self, env: &Env, end: Offset, out: &mut Outputs) {
        debug_assert!(end <= self.log.appended, "the disk confirms what was appended");
        if end <= self.log.written || self.failed {
            return;
        }
        self.log.written = end;
        out.push(Output::LogEndMoved { to: end });
        match self.role {
            Role::Leader(_) => self.advance_high_watermark(env, out),
            Role::Follower { leader_high_watermark, .. } => {
                self.follow_high_watermark(env, leader_high_watermark, out);
            }
            Role::Idle => {}
        }
    }

    /// Forgets producers that have been silent for `limit_ms` of wall-clock time (rule 44).
    pub fn expire_producers(&mut self, now_unix_ms: i64, limit_ms: i64) {
        self.log.producers.expire(now_unix_ms, limit_ms);
    }
}
