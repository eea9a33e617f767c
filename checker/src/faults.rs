//! Which faults were in force when, and what they could keep from happening.

use highwater_history::{
    NodeId, TimeNs,
    outcome::{FaultOutcome, FaultStatus, Outcome},
};

/// Faults that end and start processes, or ask the cluster for a change: a node that answers is not
/// held up by them.
const SPARES_LIVE_NODES: [&str; 6] =
    ["kill", "stop", "restart", "rolling-restart", "leader-move", "config-change"];

/// Whether a fault may have kept a live node among these from talking or working at some instant of
/// a time, or the harness itself was late then; also where nothing tells.
pub fn may_hold_up(outcome: Option<&Outcome>, nodes: &[NodeId], time: (TimeNs, TimeNs)) -> bool {
    let Some(outcome) = outcome else { return true };
    let holds = |fault: &FaultOutcome| {
        fault.status != FaultStatus::Skipped
            && !SPARES_LIVE_NODES.contains(&fault.kind.as_str())
            && overlaps((fault.from.unwrap_or(0), fault.to.unwrap_or(TimeNs::MAX)), time)
            && (fault.targets.is_empty() || nodes.iter().any(|node| is_target(fault, *node)))
    };
    outcome.faults.iter().any(holds)
        || outcome.lag_windows.iter().any(|lag| overlaps((lag.from, lag.to), time))
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
/// or one of them from working; also where nothing tells.
pub fn may_part(
    outcome: Option<&Outcome>,
    leader: NodeId,
    controllers: &[NodeId],
    time: (TimeNs, TimeNs),
) -> bool {
    let Some(outcome) = outcome else { return true };
    let mut both = controllers.to_vec();
    both.push(leader);
    let parts = |fault: &FaultOutcome| {
        let in_force = fault.status != FaultStatus::Skipped
            && overlaps((fault.from.unwrap_or(0), fault.to.unwrap_or(TimeNs::MAX)), time);
        in_force
            && match links_of(fault) {
                Some(links) => links.iter().any(|(one, other)| {
                    (*one == leader && controllers.contains(other))
                        || (*other == leader && controllers.contains(one))
                }),
                None => fault.targets.is_empty() || both.iter().any(|node| is_target(fault, *node)),
            }
    };
    outcome.faults.iter().any(parts)
        || outcome.lag_windows.iter().any(|lag| overlaps((lag.from, lag.to), time))
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
