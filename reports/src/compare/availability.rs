//! How long a key could not be written while faults were on, and how soon it could be again.

use highwater_checker::index::operations::{Operation, Outcome};
use highwater_history::{TimeNs, outcome::FaultOutcome};

/// A key that waits no longer than this for its next acknowledgement counts as served.
const SERVED_WITHIN_NS: TimeNs = 500_000_000;

/// Times, each from a beginning to an end.
type Windows = Vec<(TimeNs, TimeNs)>;

/// When faults were in force, without overlaps, in order.
pub(super) fn fault_windows(faults: &[FaultOutcome]) -> Windows {
    let mut windows: Windows =
        faults.iter().filter_map(|fault| Some((fault.from?, fault.to?))).collect();
    windows.sort_unstable();
    let mut apart: Windows = Vec::new();
    for (from, to) in windows {
        match apart.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => apart.push((from, to)),
        }
    }
    apart
}

/// Times in which somebody waited for an acknowledgement of this key and got none.
pub(super) fn gaps<'a>(sends: impl Iterator<Item = &'a Operation>) -> Windows {
    let mut events: Vec<(TimeNs, bool)> = Vec::new();
    for send in sends {
        events.push((send.invoked_at, false));
        if send.completed.is_some() {
            events.push((send.completed_at, send.outcome == Outcome::Ok));
        }
    }
    // A slot begins its next send at the very instant at which the one before ended.
    events.sort_unstable_by_key(|(at, acknowledged)| (*at, !acknowledged));
    let (mut gaps, mut waiting) = (Vec::new(), None);
    for (at, acknowledged) in &events {
        if *acknowledged {
            gaps.extend(waiting.take().map(|since| (since, *at)));
        } else {
            waiting.get_or_insert(*at);
        }
    }
    let end = events.last().map_or(0, |(at, _)| *at);
    gaps.extend(waiting.map(|since| (since, end)));
    gaps
}

/// The part of `windows` in which the key was served, 0 to 1.
pub(super) fn served(windows: &Windows, gaps: &Windows) -> f64 {
    let length: TimeNs = windows.iter().map(|(from, to)| to - from).sum();
    if length == 0 {
        return 1.0;
    }
    let long = gaps.iter().filter(|(from, to)| to - from > SERVED_WITHIN_NS);
    let missed: TimeNs = long.map(|gap| overlap_of(windows, *gap)).sum();
    1.0 - missed as f64 / length as f64
}

/// The longest that a wait which was there at a heal went on after it.
pub(super) fn longest_recovery_ns(windows: &Windows, gaps: &Windows) -> TimeNs {
    let after = |healed: TimeNs| {
        let waiting = gaps.iter().filter(move |(from, to)| *from <= healed && healed < *to);
        waiting.map(move |(_, to)| to - healed).max()
    };
    windows.iter().filter_map(|(_, healed)| after(*healed)).max().unwrap_or(0)
}

fn overlap_of(windows: &Windows, (from, to): (TimeNs, TimeNs)) -> TimeNs {
    windows.iter().map(|window| to.min(window.1).saturating_sub(from.max(window.0))).sum()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use highwater_checker::index::operations::Requests;

    use super::{Operation, Outcome, gaps, longest_recovery_ns, served};

    const S: u64 = 1_000_000_000;

    #[test]
    fn only_long_waits_under_faults_count() {
        let windows = vec![(10 * S, 14 * S), (20 * S, 24 * S)];
        assert_eq!(served(&windows, &vec![]), 1.0);
        assert_eq!(served(&windows, &vec![(11 * S, 11 * S + S / 10)]), 1.0);
        assert_eq!(served(&windows, &vec![(12 * S, 16 * S), (0, 5 * S)]), 0.75);
        assert_eq!(served(&vec![], &vec![(0, 5 * S)]), 1.0);
    }

    fn send(invoked_at: u64, completed_at: u64, outcome: Outcome) -> Operation {
        Operation {
            process: 0,
            outcome,
            some_ok_read: false,
            transaction: false,
            requests: Requests::One,
            node: None,
            invoked: 0,
            completed: NonZeroU64::new(1),
            invoked_at,
            sent_at: invoked_at,
            completed_at,
        }
    }

    #[test]
    fn a_send_that_begins_as_another_ends_waits_by_itself() {
        let sends = [send(0, S, Outcome::Ok), send(S, 9 * S, Outcome::Fail)];
        assert_eq!(gaps(sends.iter()), [(0, S), (S, 9 * S)]);
    }

    #[test]
    fn recovery_is_what_is_left_of_a_wait_at_a_heal() {
        let windows = vec![(10 * S, 14 * S), (20 * S, 24 * S)];
        assert_eq!(longest_recovery_ns(&windows, &vec![(12 * S, 15 * S), (23 * S, 26 * S)]), 2 * S);
        assert_eq!(longest_recovery_ns(&windows, &vec![(15 * S, 19 * S)]), 0);
    }
}
