//! What other requests ask of a replica: offsets, epochs, producers, acknowledgements.

use super::env::Env;
use super::epoch_cache::EpochEnd;
use super::error::ReplicaError;
use super::log_state::LogBounds;
use super::producers::Producers;
use super::serve::{Isolation, Reader};
use super::{Replica, Role};
use crate::rule::ack::{Ack, AckView, ack_leader};
use crate::types::{BrokerId, LeaderEpoch, Offset};

use super::produce::Acks;

/// What a ListOffsets query may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// The first offset that it may not be told of; LATEST is this offset.
    pub bound: Offset,
    /// An error when the end of the log is not known yet: then only records below the bound may
    /// be told of (rule 19).
    pub end: Result<(), ReplicaError>,
    /// The epoch of this leader.
    pub leader_epoch: LeaderEpoch,
}

impl Replica {
    /// Log start, last stable offset, high watermark, LEO.
    pub fn bounds(&self) -> LogBounds {
        self.log.bounds()
    }

    /// The producers that the log remembers (rule 45).
    pub fn producers(&self) -> &Producers {
        &self.log.producers
    }

    /// The leader epochs that the log knows (rule 5).
    pub fn epochs(&self) -> &[(LeaderEpoch, Offset)] {
        self.log.epochs.entries()
    }

    /// The epoch under which it leads.
    pub fn leads(&self) -> Option<LeaderEpoch> {
        self.leading().ok().map(|leadership| leadership.epoch)
    }

    /// Whom it follows, and in which epoch; also while a cut is under way.
    pub fn follows(&self) -> Option<(BrokerId, LeaderEpoch)> {
        match self.role {
            Role::Follower { leader: Some(leader), epoch, .. } => Some((leader, epoch)),
            _ => None,
        }
    }

    /// An error unless this broker leads at the epoch that the caller believes in (rule 12).
    pub fn check_leader(&self, env: &Env, asked: Option<LeaderEpoch>) -> Result<(), ReplicaError> {
        self.usable()?;
        self.check_epoch(env, asked)?;
        self.leading().map(|_| ())
    }

    /// What a ListOffsets query of this reader may see (rules 12, 19, 58).
    pub fn visibility(
        &self,
        env: &Env,
        reader: Reader,
        asked: Option<LeaderEpoch>,
    ) -> Result<Visibility, ReplicaError> {
        self.usable()?;
        self.check_epoch(env, asked)?;
        let (leader_epoch, start) = match (&self.role, reader) {
            (Role::Leader(l), _) => (l.epoch, Some(l.start)),
            (Role::Follower { epoch, .. }, Reader::Anywhere(_)) => (*epoch, None),
            _ => return Err(ReplicaError::NotLeaderOrFollower),
        };
        let bounds = self.log.bounds();
        let isolation = reader.isolation();
        let is_client = isolation != Isolation::LogEnd;
        let end = match start.filter(|_| is_client) {
            Some(start) => (env.rules.end_is_known)(bounds.high_watermark, start),
            None => Ok(()),
        };
        let bound = (env.rules.fetch_bound)(isolation, &bounds);
        Ok(Visibility { bound, end, leader_epoch })
    }

    /// The end of the largest epoch that is not above `epoch`; `None` when it is unknown here
    /// (rules 5, 9, 12).
    pub fn epoch_end(
        &self,
        env: &Env,
        asked: Option<LeaderEpoch>,
        epoch: LeaderEpoch,
    ) -> Result<Option<EpochEnd>, ReplicaError> {
        self.check_leader(env, asked)?;
        Ok(self.log.epochs.end_of(epoch, self.log.written))
    }

    /// Whether a write that ends at `last_offset` may be answered (rules 36, 37, 43).
    pub fn acknowledges(&self, env: &Env, acks: Acks, last_offset: Offset) -> Ack {
        let view = self.ack_view(env);
        match acks {
            Acks::None => Ack::Answer(Ok(())),
            Acks::Leader => ack_leader(&view, last_offset),
            Acks::All if view.leads => (env.rules.ack_all)(&view, last_offset),
            Acks::All => (env.rules.ack_on_step_down)(&view, last_offset),
        }
    }

    fn ack_view(&self, env: &Env) -> AckView {
        let leadership = self.leading().ok();
        AckView {
            leads: leadership.is_some(),
            failed: self.failed,
            high_watermark: self.log.high_watermark,
            log_end: self.log.written,
            maximal_isr: leadership.map_or(0, |l| l.isr.maximal(env).len()),
            min_isr: self.effective_min_isr(),
        }
    }
}
