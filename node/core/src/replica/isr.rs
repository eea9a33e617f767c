//! The leader's ISR and high watermark: rules 16 to 18 and 20 to 24 put to work.

use super::env::Env;
use super::leadership::{Follower, Isr, Leadership};
use super::metadata::isr_changed;
use super::output::{IsrProposal, Output, Outputs};
use super::{Replica, Role};
use crate::rule::high_watermark::{FollowerStanding, IsrSize, next_high_watermark};
use crate::rule::isr_admission::Candidate;
use crate::types::{BrokerEpoch, BrokerId, Offset, PartitionState};

/// Why the controller did not make a proposed change (rule 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsrRefusal {
    /// It looked and will not: INELIGIBLE_REPLICA, OPERATION_NOT_ATTEMPTED. The committed ISR
    /// stands, and a later fetch may propose again.
    NotMade,
    /// The proposal is out of date, so newer metadata is on its way: FENCED_LEADER_EPOCH,
    /// INVALID_UPDATE_VERSION, NEW_LEADER_ELECTED, INVALID_REQUEST, unknown topic. The safer set
    /// stands until it comes.
    Outdated,
    /// It may or may not have been made: any other error, or no answer. It is proposed again.
    Unknown,
}

impl Replica {
    /// Looks for followers that fell out of sync (rule 24); to be called every lag limit / 2.
    pub fn check_isr(&mut self, env: &Env, out: &mut Outputs) {
        self.propose_removal(env, out);
        self.advance_high_watermark(env, out);
    }

    /// The controller's answer to the proposal `sent`.
    ///
    /// An answer to anything but the pending proposal is ignored: newer metadata came first.
    pub fn isr_answered(
        &mut self,
        env: &Env,
        sent: &IsrProposal,
        answer: Result<&PartitionState, IsrRefusal>,
        out: &mut Outputs,
    ) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if leadership.isr.pending.as_ref() != Some(sent) {
            return;
        }
        match answer {
            Ok(state) => return self.apply_answer(env, state, out),
            Err(IsrRefusal::NotMade) => leadership.isr.pending = None,
            Err(IsrRefusal::Outdated) => {}
            Err(IsrRefusal::Unknown) => out.push(Output::ProposeIsr(sent.clone())),
        }
        self.advance_high_watermark(env, out);
        out.push(Output::StandingChanged);
    }

    /// A committed change ends the pending one, also when it changed nothing.
    fn apply_answer(&mut self, env: &Env, state: &PartitionState, out: &mut Outputs) {
        let Role::Leader(leadership) = &mut self.role else { return };
        if state.leader_epoch != leadership.epoch
            || state.partition_epoch < leadership.isr.partition_epoch
        {
            return;
        }
        leadership.isr = Isr {
            committed: state.isr.clone(),
            partition_epoch: state.partition_epoch,
            pending: None,
        };
        out.push(isr_changed(&leadership.isr));
        if let Some(own) = &mut self.state {
            own.isr = state.isr.clone();
            own.partition_epoch = state.partition_epoch;
            own.recovering = state.recovering;
        }
        self.advance_high_watermark(env, out);
        out.push(Output::StandingChanged);
    }

    /// Proposes to add `id` when rule 23 lets it in.
    pub(super) fn propose_addition(&mut self, env: &Env, id: BrokerId, out: &mut Outputs) {
        let high_watermark = self.log.high_watermark;
        let Role::Leader(leadership) = &self.role else { return };
        if leadership.isr.pending.is_some() || leadership.isr.committed.contains(&id) {
            return;
        }
        let Some(follower) = leadership.followers.get(&id) else { return };
        let Some(log_end) = follower.log_end else { return };
        let candidate = Candidate {
            log_end,
            high_watermark,
            epoch_start: leadership.start,
            eligible: env.is_isr_eligible(id, follower.broker_epoch),
        };
        if (env.rules.admits_to_isr)(&candidate) {
            let mut members = leadership.isr.committed.clone();
            members.push(id);
            self.propose(env, &members, out);
        }
    }

    /// Proposes to drop all members that rule 24 calls out of sync.
    fn propose_removal(&mut self, env: &Env, out: &mut Outputs) {
        let Ok(leadership) = self.leading() else { return };
        if leadership.isr.pending.is_some() {
            return;
        }
        let committed = leadership.isr.committed.clone();
        let keeps = |id: &BrokerId| !self.is_out_of_sync(env, leadership, *id);
        let members: Vec<BrokerId> = committed.iter().copied().filter(keeps).collect();
        if members.len() == committed.len() {
            return;
        }
        self.propose(env, &members, out);
        let Role::Leader(leadership) = &mut self.role else { return };
        leadership.isr.committed = (env.rules.while_shrinking)(&committed, &members);
    }

    fn is_out_of_sync(&self, env: &Env, leadership: &Leadership, id: BrokerId) -> bool {
        let Some(follower) = leadership.followers.get(&id) else { return false };
        let lag = follower.lag(env.now, self.log.written, self.config.lag_limit_ms);
        (env.rules.out_of_sync)(&lag)
    }

    /// Sends one proposal to the controller and remembers it (rule 22).
    fn propose(&mut self, env: &Env, members: &[BrokerId], out: &mut Outputs) {
        let own = self.broker;
        let Some(state) = &self.state else { return };
        let in_order = state.replicas.iter().copied().filter(|id| members.contains(id));
        let Role::Leader(leadership) = &mut self.role else { return };
        let known_epoch = |id: BrokerId| match id == own {
            true => env.brokers.get(&id).map(|b| b.epoch),
            false => leadership.followers.get(&id).and_then(|f| f.broker_epoch),
        };
        let proposal = IsrProposal {
            isr: in_order.map(|id| (id, known_epoch(id).unwrap_or(BrokerEpoch(-1)))).collect(),
            leader_epoch: leadership.epoch,
            partition_epoch: leadership.isr.partition_epoch,
        };
        leadership.isr.pending = Some(proposal.clone());
        out.push(Output::ProposeIsr(proposal));
    }

    /// Re-evaluates the leader's high watermark (rules 16, 17, 20).
    pub(super) fn advance_high_watermark(&mut self, env: &Env, out: &mut Outputs) {
        let Ok(leadership) = self.leading() else { return };
        let maximal = leadership.isr.maximal(env);
        let standing = |(id, follower): (&BrokerId, &Follower)| FollowerStanding {
            log_end: follower.log_end,
            in_maximal_isr: maximal.contains(id),
            caught_up: !self.is_out_of_sync(env, leadership, *id),
            eligible: env.is_isr_eligible(*id, follower.broker_epoch),
        };
        let isr = IsrSize {
            committed: leadership.isr.committed.len(),
            effective_min: self.effective_min_isr(),
        };
        let followers = leadership.followers.iter().map(standing);
        let (current, end) = (self.log.high_watermark, self.log.written);
        let next = next_high_watermark(env.rules, current, end, isr, followers);
        self.set_high_watermark(next, out);
    }

    pub(super) fn set_high_watermark(&mut self, to: Offset, out: &mut Outputs) {
        if self.log.high_watermark != to {
            self.log.high_watermark = to;
            out.push(Output::HighWatermarkMoved { to });
        }
    }
}
