//! What the metadata log may say of a partition: its ISR, ELR and leader (rules 21, 27 to 29, 33,
//! 86).

use std::collections::BTreeSet;

use highwater_history::NodeId;

use crate::registry::Registration;

/// Something that a state of a partition must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Illegal {
    /// Two replicas on one broker.
    SharedBroker,
    /// An in-sync replica that is not assigned.
    Unassigned,
    /// A leader that is not in sync.
    LeaderOutside,
    /// A replica in ISR and ELR at once, or an ELR that is not assigned.
    Elr,
    /// Nobody in sync, and no ELR in use.
    Empty,
    /// A member that is fenced or stopping.
    OutOfService,
    /// A leader elected from outside ISR and ELR where nothing allowed it.
    Outsider,
    /// An ISR that grows before its unclean leader has recovered.
    GrowsRecovering,
}

impl Illegal {
    /// The contract rule that it breaks.
    pub fn rule(self) -> u16 {
        match self {
            Self::SharedBroker => 86,
            Self::Unassigned | Self::LeaderOutside => 21,
            Self::Elr | Self::Empty => 29,
            Self::OutOfService => 33,
            Self::Outsider => 27,
            Self::GrowsRecovering => 28,
        }
    }

    /// What is wrong, for findings.
    pub fn what(self) -> &'static str {
        match self {
            Self::SharedBroker => "two replicas stand on one broker",
            Self::Unassigned => "a replica is in the ISR and not assigned",
            Self::LeaderOutside => "the leader is not in the ISR",
            Self::Elr => "the ELR overlaps with the ISR or is not assigned",
            Self::Empty => "the ISR is empty, and eligible leader replicas are not in use",
            Self::OutOfService => "a member of the ISR is fenced or stopping",
            Self::Outsider => "a leader outside ISR and ELR was elected, which nothing allowed",
            Self::GrowsRecovering => "the ISR grew before its unclean leader had recovered",
        }
    }
}

/// What is wrong with a state after another one; what was wrong before counts no second time.
pub fn newly_illegal(state: &Registration, before: Option<&Registration>) -> BTreeSet<Illegal> {
    let mut wrong = illegal(state);
    if let Some(before) = before {
        let known = illegal(before);
        wrong.retain(|what| !known.contains(what));
        wrong.extend(illegal_step(before, state));
    }
    wrong
}

fn illegal(state: &Registration) -> BTreeSet<Illegal> {
    let Registration { isr, elr, replicas, .. } = state;
    let is_assigned = |node: &NodeId| replicas.contains(node);
    let sole_may_stay = !state.elr_enabled && isr.len() == 1;
    let checks = [
        (Illegal::SharedBroker, set(replicas).len() < replicas.len()),
        (Illegal::Unassigned, !isr.iter().all(is_assigned)),
        (Illegal::LeaderOutside, state.leader.is_some_and(|leader| !isr.contains(&leader))),
        (Illegal::Elr, elr.iter().any(|node| isr.contains(node) || !is_assigned(node))),
        (Illegal::Empty, isr.is_empty() && !state.elr_enabled),
        (Illegal::OutOfService, !state.out_of_service.is_empty() && !sole_may_stay),
    ];
    checks.into_iter().filter(|(_, is_so)| *is_so).map(|(what, _)| what).collect()
}

fn illegal_step(before: &Registration, state: &Registration) -> Option<Illegal> {
    // With ELR, nobody left in ISR and ELR: the last leader that is known may lead again.
    let last_known = state.elr_enabled && before.isr.is_empty() && before.elr.is_empty();
    let leader = state.leader.filter(|_| state.elected && !state.unclean_allowed && !last_known);
    let outside = |node: &NodeId| !before.isr.contains(node) && !before.elr.contains(node);
    if leader.as_ref().is_some_and(outside) {
        return Some(Illegal::Outsider);
    }
    let grew = state.isr.iter().any(|node| !before.isr.contains(node));
    (before.recovering && state.recovering && !state.elected && grew)
        .then_some(Illegal::GrowsRecovering)
}

fn set(nodes: &[NodeId]) -> BTreeSet<NodeId> {
    nodes.iter().copied().collect()
}
