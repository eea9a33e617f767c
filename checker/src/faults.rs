//! Which faults were in force when, and what they could keep from happening.

use highwater_history::{
    NodeId, TimeNs,
    outcome::{FaultOutcome, FaultStatus, Outcome},
};

/// Faults that end and start processes: a node that answers is not held up by them.
const ENDS_PROCESSES: [&str; 4] = ["kill", "stop", "restart", "rolling-restart"];

/// Faults that ask the cluster for a change, or that hit clients: they hold up no node and part
/// none from another.
const SPARES_NODES: [&str; 6] = [
    "client-crash",
    "config-change",
    "leader-move",
    "preferred-election",
    "topic-create",
    "topic-delete",
];

fn spares_live_nodes(fault: &FaultOutcome) -> bool {
    let kind = fault.kind.as_str();
    ENDS_PROCESSES.contains(&kind) || SPARES_NODES.contains(&kind)
}

/// Whether a fault may have kept a live node among these from talking or working at some instant of
/// a time, or the harness itself was late then; also where nothing tells.
pub fn may_hold_up(outcome: Option<&Outcome>, nodes: &[NodeId], time: (TimeNs, TimeNs)) -> bool {
    let Some(outcome) = outcome else { return true };
    let holds = |fault: &FaultOutcome| {
        overlaps(in_force(fault), time)
            && fault.status != FaultStatus::Skipped
            && !spares_live_nodes(fault)
            && (fault.targets.is_empty() || nodes.iter().any(|node| is_target(fault, *node)))
    };
    outcome.faults.iter().any(holds)
        || outcome.lag_windows.iter().any(|lag| overlaps((lag.from, lag.to), time))
}

/// When a fault may have acted.
fn in_force(fault: &FaultOutcome) -> (TimeNs, TimeNs) {
    (fault.from.unwrap_or(0), fault.to.unwrap_or(TimeNs::MAX))
}

fn is_target(fault: &FaultOutcome, node: NodeId) -> bool {
    fault.targets.iter().any(|target| {
        let mut words = target.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| word.parse() == Ok(node))
    })
}

fn overlaps(one: (TimeNs, TimeNs), other: (TimeNs, TimeNs)) -> bool {
    one.0 <= other.1 && other.0 <= one.1
}

/// Whether a fault may have kept a leader from talking to a controller at some instant of a time,
/// or one of them from working, or the harness itself was late then; also where nothing tells.
pub fn may_part(
    outcome: Option<&Outcome>,
    leader: NodeId,
    controllers: &[NodeId],
    time: (TimeNs, TimeNs),
) -> bool {
    let parted = |outcome| partings(outcome, leader, controllers, time).next().is_some();
    outcome.is_none_or(parted)
}

/// Since when a leader may not have heard of the controllers, if it may not have at some instant of
/// a time: faults that follow on each other without a gap count as one. Without any it is the
/// beginning of that time.
pub fn parted_since(
    outcome: Option<&Outcome>,
    leader: NodeId,
    controllers: &[NodeId],
    (from, to): (TimeNs, TimeNs),
) -> TimeNs {
    let Some(outcome) = outcome else { return 0 };
    let mut since = from;
    while let Some(earlier) = partings(outcome, leader, controllers, (since, to))
        .map(|(began, _)| began)
        .min()
        .filter(|began| *began < since)
    {
        since = earlier;
    }
    since
}

/// When a fault may have kept a leader from talking to a controller, or one of them from working,
/// or the harness was late, as far as that reaches into a time.
fn partings<'a>(
    outcome: &'a Outcome,
    leader: NodeId,
    controllers: &'a [NodeId],
    time: (TimeNs, TimeNs),
) -> impl Iterator<Item = (TimeNs, TimeNs)> + 'a {
    let hits_either = move |fault: &FaultOutcome| {
        fault.targets.is_empty()
            || is_target(fault, leader)
            || controllers.iter().any(|node| is_target(fault, *node))
    };
    let is_between = move |(one, other): &(NodeId, NodeId)| {
        (*one == leader && controllers.contains(other))
            || (*other == leader && controllers.contains(one))
    };
    let parts = move |fault: &&FaultOutcome| {
        overlaps(in_force(fault), time)
            && fault.status != FaultStatus::Skipped
            && !SPARES_NODES.contains(&fault.kind.as_str())
            && links_of(fault)
                .map_or_else(|| hits_either(fault), |links| links.iter().any(is_between))
    };
    let faults = outcome.faults.iter().filter(parts).map(in_force);
    let lags = outcome.lag_windows.iter().map(|lag| (lag.from, lag.to));
    faults.chain(lags.filter(move |lag| overlaps(*lag, time)))
}

/// The links between nodes that a fault acted on, as its proof names them (`1 -> 2`); none where
/// the proof names no link.
fn links_of(fault: &FaultOutcome) -> Option<Vec<(NodeId, NodeId)>> {
    let names: Vec<_> =
        fault.proof.as_object()?.keys().filter(|key| key.contains(" -> ")).collect();
    let link = |name: &&String| {
        let (from, to) = name.split_once(" -> ")?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    (!names.is_empty()).then(|| names.iter().filter_map(link).collect())
}

#[cfg(test)]
mod tests {
    use highwater_history::outcome::{Ended, FaultOutcome, FaultStatus, Outcome};
    use serde_json::Value;

    use super::{ENDS_PROCESSES, SPARES_NODES, may_hold_up, may_part, parted_since};

    fn hit(faults: &[(&str, u64, u64)]) -> Outcome {
        let mut outcome = Outcome::new(Ended::Complete, 100);
        outcome.faults.extend(faults.iter().map(|(kind, from, to)| FaultOutcome {
            kind: (*kind).to_owned(),
            targets: vec!["1".to_owned()],
            status: FaultStatus::Installed,
            reason: None,
            from: Some(*from),
            to: Some(*to),
            proof: Value::Null,
        }));
        outcome
    }

    /// Rules 16, 24: a claim is silent only while a fault may have kept a node from its work.
    #[test]
    fn what_only_asks_the_cluster_or_hits_clients_holds_up_nobody() {
        let held = |kind| may_hold_up(Some(&hit(&[(kind, 10, 20)])), &[1], (15, 15));
        let parted = |kind| may_part(Some(&hit(&[(kind, 10, 20)])), 1, &[4], (15, 15));
        for kind in SPARES_NODES {
            assert!(!held(kind) && !parted(kind), "{kind}");
        }
        for kind in ENDS_PROCESSES {
            assert!(!held(kind) && parted(kind), "{kind}: it lives, and was not there before");
        }
        for kind in ["pause", "isolate", "slow-disk"] {
            assert!(held(kind) && parted(kind), "{kind}");
        }
    }

    #[test]
    fn a_fault_holds_up_whom_it_hits_while_it_acts() {
        let mut outcome = hit(&[("pause", 10, 20)]);
        let held = |outcome: &Outcome, node, at| may_hold_up(Some(outcome), &[node], (at, at));
        assert!(held(&outcome, 1, 15) && !held(&outcome, 1, 25) && !held(&outcome, 2, 15));
        outcome.faults[0].status = FaultStatus::Skipped;
        assert!(!held(&outcome, 1, 15));
        outcome.faults[0].status = FaultStatus::Indeterminate;
        assert!(held(&outcome, 1, 15));
    }

    /// c.4: faults that follow on each other keep a leader from hearing of a change.
    #[test]
    fn a_leader_may_not_have_heard_since_the_first_of_faults_without_a_gap() {
        let outcome = hit(&[("pause", 10, 20), ("isolate", 18, 40), ("pause", 60, 70)]);
        let since = |time| parted_since(Some(&outcome), 1, &[4], time);
        assert_eq!(since((30, 35)), 10);
        assert_eq!(since((50, 55)), 50);
        assert_eq!(since((50, 65)), 50, "what began later kept nothing from before");
        assert_eq!(parted_since(None, 1, &[4], (30, 35)), 0, "nothing tells");
    }
}
