//! Rules 27 and 28: who leads a partition next.

use crate::types::BrokerId;

/// What an election looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The first assigned replica, if it is in sync; else as [`Aim::Any`].
    Preferred,
    /// Keep the leader if it may lead, else the first in-sync replica in assignment order.
    Any,
    /// As [`Aim::Any`], and when no replica in sync is live, any live one: data may be lost.
    AnyUnclean,
}

/// The partition as the election sees it.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// Replicas in assignment order.
    pub replicas: &'a [BrokerId],
    /// Replicas in sync; those that are about to leave are not among them.
    pub isr: &'a [BrokerId],
    /// Eligible leader replicas (rule 29).
    pub elr: &'a [BrokerId],
    /// The last known leader, recorded when ISR and ELR became empty.
    pub last_known: &'a [BrokerId],
    /// The leader so far.
    pub leader: Option<BrokerId>,
    /// Whether a broker is live: registered, unfenced, not stopping.
    pub is_active: &'a dyn Fn(BrokerId) -> bool,
}

/// An election's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elected {
    /// Nobody may lead.
    Nobody,
    /// A replica that holds everything committed.
    Clean(BrokerId),
    /// A replica from outside the ISR; the partition has to recover (rule 28).
    Unclean(BrokerId),
}

/// The type of [`elect`].
pub type Elect = fn(&Candidates<'_>, Aim) -> Elected;

/// Chooses the leader in the order of rule 27.
pub fn elect(candidates: &Candidates<'_>, aim: Aim) -> Elected {
    let active = |broker: &BrokerId| (candidates.is_active)(*broker);
    // The ELR counts only once nobody is left in the ISR.
    let holds_all = |broker: &BrokerId| match candidates.isr {
        [] => candidates.elr.contains(broker),
        isr => isr.contains(broker),
    };
    let in_sync = |broker: &BrokerId| active(broker) && holds_all(broker);
    if aim == Aim::Preferred
        && let Some(preferred) = candidates.replicas.first().filter(|id| in_sync(id))
    {
        return Elected::Clean(*preferred);
    }
    if let Some(leader) = candidates.leader.filter(|id| in_sync(id)) {
        return Elected::Clean(leader);
    }
    if let Some(first) = candidates.replicas.iter().find(|id| in_sync(id)) {
        return Elected::Clean(*first);
    }
    if candidates.isr.is_empty()
        && candidates.elr.is_empty()
        && let [last] = candidates.last_known
        && active(last)
    {
        return Elected::Unclean(*last);
    }
    match candidates.replicas.iter().find(|id| active(id)) {
        Some(any) if aim == Aim::AnyUnclean => Elected::Unclean(*any),
        _ => Elected::Nobody,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[i32]) -> Vec<BrokerId> {
        ids.iter().copied().map(BrokerId).collect()
    }

    /// Who of replicas 1, 2, 3 is elected when only `active` are live.
    fn elected(isr: &[i32], elr: &[i32], active: &[i32]) -> Elected {
        let (replicas, isr, elr, active) = (ids(&[1, 2, 3]), ids(isr), ids(elr), ids(active));
        let candidates = Candidates {
            replicas: &replicas,
            isr: &isr,
            elr: &elr,
            last_known: &[],
            leader: None,
            is_active: &|broker| active.contains(&broker),
        };
        elect(&candidates, Aim::Preferred)
    }

    #[test]
    fn rule_27_the_elr_counts_only_when_the_isr_is_empty() {
        assert_eq!(elected(&[3], &[1, 2], &[1, 2, 3]), Elected::Clean(BrokerId(3)));
        assert_eq!(elected(&[3], &[1, 2], &[1, 2]), Elected::Nobody);
        assert_eq!(elected(&[], &[2, 3], &[1, 3]), Elected::Clean(BrokerId(3)));
    }
}
