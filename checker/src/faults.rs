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
        fault.status != FaultStatus::Skipped
            && !spares_live_nodes(fault)
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
        fault.status != FaultStatus::Skipped
            && !SPARES_NODES.contains(&fault.kind.as_str())
            && links_of(fault)
                .map_or_else(|| hits_either(fault), |links| links.iter().any(is_between))
    };
    let during = |fault: &FaultOutcome| (fault.from.unwrap_or(0), fault.to.unwrap_or(TimeNs::MAX));
    let faults = outcome.faults.iter().filter(parts).map(during);
    let lags = outcome.lag_windows.iter().map(|lag| (lag.from, lag.to));
    faults.chain(lags).filter(move |parting| overlaps(*parting, time))
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
