//! The high watermark moves on once every replica that it has to wait for is past it.

use std::collections::BTreeMap;

use highwater_history::{LeaderEpoch, NodeId, Offset, TimeNs, samples::ReplicaState};

use super::{Decides, Entry, Judge, Need};
use crate::{
    faults,
    finding::Findings,
    min_isr::APPLIED_NS,
    registry::{Registration, Registry},
    told::Told,
    view::KeyView,
};

/// Counts standstills: the leader's high watermark stays where it is although all in-sync replicas
/// and all that are in service have more, and enough are in sync. Nothing is said while a fault
/// holds one of them up.
pub static ENTRY: Entry = Entry {
    rules: &[16, 20],
    clauses: &[],
    evidence: &["D12"],
    anomalies: &["watermark-stuck"],
    needs: &[Need::Samples, Need::Elections, Need::Outcome],
    of_history: false,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// A second, and half of one for answers that are late.
const STUCK_NS: TimeNs = 1_500_000_000;
/// Followers of a new leader may fail to reach it at first, and wait before they try again.
const SETTLED_NS: TimeNs = 5_000_000_000;
/// Whoever answered within this time is alive.
const ALIVE_NS: TimeNs = 1_000_000_000;

/// Answers of one leadership in a row with the same high watermark.
struct Standstill<'a> {
    leader: NodeId,
    process: u32,
    epoch: LeaderEpoch,
    hw: Offset,
    first: &'a Told<'a, ReplicaState>,
    last: &'a Told<'a, ReplicaState>,
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    for standstill in standstills(view.replica_samples()) {
        let Some(since) = stuck_since(view, &standstill) else { continue };
        findings.violation("watermark-stuck", || {
            let Standstill { leader, epoch, hw, last, .. } = standstill;
            let why = format!(
                "the HW of node {leader}, leader of epoch {epoch}, stayed at {hw} from {since} to \
                 {} ns, although every replica that it waits for had more",
                last.asked
            );
            view.finding_at(Some(hw), 16, "D12", Vec::new(), why)
        });
    }
}

fn standstills<'a>(samples: &'a [Told<'a, ReplicaState>]) -> Vec<Standstill<'a>> {
    let mut all: Vec<Standstill<'a>> = Vec::new();
    let mut open: BTreeMap<NodeId, Standstill<'a>> = BTreeMap::new();
    for sample in samples {
        let state = sample.state;
        let leads = state.leader_epoch.zip(state.hw).filter(|_| state.leads == Some(true));
        let Some((epoch, hw)) = leads else {
            all.extend(open.remove(&sample.node));
            continue;
        };
        let goes_on = |now: &&mut Standstill<'a>| {
            (now.process, now.epoch, now.hw) == (sample.process, epoch, hw)
        };
        if let Some(now) = open.get_mut(&sample.node).filter(goes_on) {
            now.last = sample;
            continue;
        }
        let (leader, process) = (sample.node, sample.process);
        let next = Standstill { leader, process, epoch, hw, first: sample, last: sample };
        all.extend(open.insert(leader, next));
    }
    all.extend(open.into_values());
    all
}

/// Since when nothing kept the high watermark, if that is long enough ago.
fn stuck_since(view: &KeyView<'_>, standstill: &Standstill<'_>) -> Option<TimeNs> {
    let Standstill { leader, epoch, hw, first, last, .. } = standstill;
    let end = last.asked;
    if end.saturating_sub(first.answered) < STUCK_NS || !view.run.registry.is_whole {
        return None;
    }
    let settled = SETTLED_NS.saturating_add(elected_at(view.states(), *leader, *epoch)?);
    let mut since = first.answered.max(settled);
    let states = Registry::during(view.states(), (since, end));
    let window = (since, end);
    if !states.iter().all(|state| may_move(view, state, (*leader, *epoch), window)) {
        return None;
    }
    let waited_for = waited_for(view, states, window);
    for node in &waited_for {
        since = since.max(ahead_since(view, *node, *hw, end)?);
    }
    let stuck = end.saturating_sub(since) >= STUCK_NS;
    let outcome = view.run.evidence.outcome.as_ref();
    (stuck && !faults::may_hold_up(outcome, &waited_for, (since, end))).then_some(since)
}

fn elected_at(states: &[Registration], leader: NodeId, epoch: LeaderEpoch) -> Option<TimeNs> {
    let led = |state: &&Registration| state.leader == Some(leader) && state.leader_epoch == epoch;
    states.iter().find(led).map(|state| state.at)
}

/// Rule 17: the partition is led so, and enough replicas are in sync.
fn may_move(
    view: &KeyView<'_>,
    state: &Registration,
    (leader, epoch): (NodeId, LeaderEpoch),
    window: (TimeNs, TimeNs),
) -> bool {
    // A lower value lets the HW move at the next append, fetch or ISR change only (rule 20): every
    // value counts that the leader has known since the last of these changes.
    let known = (state.at.min(window.0).saturating_sub(APPLIED_NS), window.1);
    let wanted = view.run.registry.min_isr(view.key.topic_name(), state, known);
    state.leader == Some(leader)
        && state.leader_epoch == epoch
        && wanted.is_some_and(|(_, most)| state.isr.len() >= most)
}

/// Rule 16: the leader, members of the ISR, and whoever else is in service.
fn waited_for(
    view: &KeyView<'_>,
    states: &[Registration],
    window: (TimeNs, TimeNs),
) -> Vec<NodeId> {
    let in_service = |node: &NodeId| view.run.registry.may_be_in_service(*node, window);
    let mut nodes: Vec<NodeId> = states
        .iter()
        .flat_map(|state| {
            let others = state.replicas.iter().filter(|node| in_service(node));
            state.isr.iter().chain(others).copied()
        })
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Since when a replica that lives at a time had more than an offset.
fn ahead_since(view: &KeyView<'_>, node: NodeId, hw: Offset, until: TimeNs) -> Option<TimeNs> {
    let of_node = view.replica_samples().iter().filter(|told| told.node == node);
    let mut since = None;
    let mut alive_at = 0;
    for told in of_node.filter(|told| told.answered <= until.saturating_add(ALIVE_NS)) {
        match told.state.leo {
            Some(end) if end > hw => since = since.or(Some(told.answered)),
            _ => since = None,
        }
        alive_at = told.answered;
    }
    since.filter(|_| alive_at.saturating_add(ALIVE_NS) >= until)
}
