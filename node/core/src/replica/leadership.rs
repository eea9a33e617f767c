//! What a leader keeps of its epoch: the followers' progress and the ISR.

use std::collections::{BTreeMap, BTreeSet};

use super::env::Env;
use super::output::IsrProposal;
use crate::rule::isr_removal::{FetchProgress, Lag};
use crate::types::{BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionEpoch, Time};

/// One leader epoch of this replica.
#[derive(Clone, Debug)]
pub(super) struct Leadership {
    pub epoch: LeaderEpoch,
    /// The log end when the epoch began.
    pub start: Offset,
    /// The other assigned replicas.
    pub followers: BTreeMap<BrokerId, Follower>,
    pub isr: Isr,
}

/// The committed ISR, and the change that the controller has not answered (rule 22).
#[derive(Clone, Debug)]
pub(super) struct Isr {
    pub committed: Vec<BrokerId>,
    pub partition_epoch: PartitionEpoch,
    pub pending: Option<IsrProposal>,
}

/// What the leader knows of one follower.
#[derive(Clone, Debug, Default)]
pub(super) struct Follower {
    /// The end of what it has confirmed; `None` until it fetched in this epoch.
    pub log_end: Option<Offset>,
    /// When it last was caught up (rule 24).
    pub caught_up_at: Option<Time>,
    /// Its last fetch: when, and the leader's log end then.
    pub last_fetch: Option<(Time, Offset)>,
    /// The incarnation that it last fetched as.
    pub broker_epoch: Option<BrokerEpoch>,
}

impl Isr {
    /// The committed members and those of a pending addition (rule 16).
    pub fn maximal(&self, env: &Env) -> BTreeSet<BrokerId> {
        let proposed: Vec<BrokerId> =
            self.pending.iter().flat_map(|p| p.isr.iter().map(|(id, _)| *id)).collect();
        (env.rules.maximal_isr)(&self.committed, &proposed)
    }
}

impl Follower {
    /// A follower at the start of a leader epoch: an ISR member gets a full lag limit to appear.
    pub fn at_epoch_start(in_isr: bool, now: Time) -> Follower {
        Follower { caught_up_at: in_isr.then_some(now), ..Follower::default() }
    }

    /// Takes in a fetch that reads from `offset`.
    pub fn fetched(&mut self, env: &Env, offset: Offset, leader_end: Offset, epoch: BrokerEpoch) {
        let progress = FetchProgress {
            now: env.now,
            fetch_offset: offset,
            leader_end,
            previous: self.last_fetch,
        };
        self.caught_up_at = self.caught_up_at.max((env.rules.caught_up_at)(&progress));
        self.log_end = Some((env.rules.confirmed_end)(offset, leader_end));
        self.last_fetch = Some((env.now, leader_end));
        self.broker_epoch = Some(epoch);
    }

    /// What rule 24 looks at.
    pub fn lag(&self, now: Time, leader_end: Offset, limit_ms: u64) -> Lag {
        Lag { log_end: self.log_end, leader_end, caught_up_at: self.caught_up_at, now, limit_ms }
    }
}
