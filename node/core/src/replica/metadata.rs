//! Committed partition states and settings: becoming leader, becoming follower (rules 5, 8, 25).

use std::collections::BTreeMap;

use super::env::Env;
use super::leadership::{Follower, Isr, Leadership};
use super::output::{Output, Outputs, ReplicaEvent};
use super::{Replica, ReplicaConfig, Role};
use crate::types::{BrokerId, Offset, PartitionState};

impl Replica {
    /// Takes in a committed state of the partition; an older one is ignored (rule 25).
    pub fn apply_metadata(&mut self, env: &Env, state: PartitionState, out: &mut Outputs) {
        if self.state.as_ref().is_some_and(|old| !(env.rules.supersedes)(&state, old)) {
            return;
        }
        self.state = Some(state);
        if self.cutting.is_none() && !self.failed {
            self.take_role(env, out);
        }
    }

    /// Takes in changed settings; they count at once.
    pub fn configure(&mut self, env: &Env, config: ReplicaConfig, out: &mut Outputs) {
        if self.config == config {
            return;
        }
        self.config = config;
        self.advance_high_watermark(env, out);
        out.push(Output::StandingChanged);
    }

    /// Does what the newest committed state says.
    pub(super) fn take_role(&mut self, env: &Env, out: &mut Outputs) {
        let Some(state) = self.state.clone() else { return };
        if state.leader == Some(self.broker) {
            self.lead(env, &state, out);
        } else {
            self.follow(env, &state, out);
        }
    }

    fn lead(&mut self, env: &Env, state: &PartitionState, out: &mut Outputs) {
        let same_epoch = matches!(&self.role, Role::Leader(l) if l.epoch == state.leader_epoch);
        if same_epoch {
            self.keep_leading(state, out);
        } else {
            self.start_epoch(env, state, out);
        }
        self.advance_high_watermark(env, out);
        out.push(Output::StandingChanged);
    }

    /// A newer version of the state under which it leads: the ISR is what the controller says.
    fn keep_leading(&mut self, state: &PartitionState, out: &mut Outputs) {
        let broker = self.broker;
        let Role::Leader(leadership) = &mut self.role else { return };
        if leadership.isr.partition_epoch == state.partition_epoch {
            return;
        }
        leadership.isr = committed_isr(state);
        leadership.followers.retain(|id, _| state.replicas.contains(id));
        for id in state.replicas.iter().filter(|id| **id != broker) {
            leadership.followers.entry(*id).or_default();
        }
        out.push(isr_changed(&leadership.isr));
    }

    /// A new epoch begins at the log end, at once and also when nothing is written (rule 5).
    fn start_epoch(&mut self, env: &Env, state: &PartitionState, out: &mut Outputs) {
        let (epoch, start) = (state.leader_epoch, self.log.appended);
        self.log.epochs.assign(epoch, start);
        let followers = self.followers_at_start(env, state);
        let isr = committed_isr(state);
        self.role = Role::Leader(Leadership { epoch, start, followers, isr });
        out.push(Output::EpochStarted { epoch, start });
        let high_watermark = self.log.high_watermark;
        out.push(Output::Event(ReplicaEvent::Leads { epoch, start, high_watermark }));
    }

    /// Nobody has confirmed anything in a new epoch, not even to who led in an older one: there may
    /// have been other leaders between that this replica did not hear of, and followers that cut
    /// under them.
    fn followers_at_start(
        &self,
        env: &Env,
        state: &PartitionState,
    ) -> BTreeMap<BrokerId, Follower> {
        let others = state.replicas.iter().filter(|id| **id != self.broker);
        others.map(|id| (*id, Follower::at_epoch_start(state.isr.contains(id), env.now))).collect()
    }

    fn follow(&mut self, env: &Env, state: &PartitionState, out: &mut Outputs) {
        let (leader, epoch) = (state.leader, state.leader_epoch);
        let unchanged = matches!(
            self.role,
            Role::Follower { epoch: e, leader: l, .. } if e == epoch && l == leader
        );
        if unchanged {
            return;
        }
        self.role = Role::Follower { leader, epoch, leader_high_watermark: Offset(0) };
        out.push(Output::Event(ReplicaEvent::Follows { leader, epoch }));
        out.push(Output::StandingChanged);
        let cut = (env.rules.cut_on_follow)(self.log.high_watermark, self.log.appended);
        if let Some(to) = cut {
            self.cut(to, out);
        }
    }
}

/// The ISR as the controller has it; whatever was proposed is void.
fn committed_isr(state: &PartitionState) -> Isr {
    Isr { committed: state.isr.clone(), partition_epoch: state.partition_epoch, pending: None }
}

/// The event of a changed ISR.
pub(super) fn isr_changed(isr: &Isr) -> Output {
    Output::Event(ReplicaEvent::IsrChanged {
        isr: isr.committed.clone(),
        partition_epoch: isr.partition_epoch,
    })
}
