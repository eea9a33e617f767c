//! What brokers serve of a partition's leadership is what the committed metadata log says.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{LeaderEpoch, NodeId, samples::PartitionState};

use super::{Decides, Entry, Judge, Need};
use crate::{finding::Findings, registry::Registration, view::KeyView};

/// Counts views that no state of the log explains, each once, however many brokers had it. A view
/// may be late; it may leave out the leader, which brokers do while that one is fenced.
pub static ENTRY: Entry = Entry {
    rules: &[25, 35, 75],
    clauses: &[],
    evidence: &["D15"],
    anomalies: &["metadata-divergence"],
    needs: &[Need::Samples, Need::Elections],
    of_history: false,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// A view that contradicts the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Epoch(LeaderEpoch),
    Leader(LeaderEpoch, NodeId),
    Isr(LeaderEpoch, Option<i32>, Vec<NodeId>),
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let states = view.states();
    if states.is_empty() || !view.run.registry.is_whole {
        return;
    }
    let mut wrong: BTreeMap<Wrong, String> = BTreeMap::new();
    for sample in view.partition_samples() {
        let Some((what, why)) = contradiction(states, sample.state) else { continue };
        wrong
            .entry(what)
            .or_insert_with(|| format!("node {} by {} ns: {why}", sample.node, sample.answered));
    }
    for why in wrong.into_values() {
        findings.violation("metadata-divergence", || {
            view.finding_at(None, 75, "D15", Vec::new(), why.clone())
        });
    }
}

fn contradiction(states: &[Registration], told: &PartitionState) -> Option<(Wrong, String)> {
    let epoch = told.leader_epoch;
    let of_epoch: Vec<_> = states.iter().filter(|state| state.leader_epoch == epoch).collect();
    let Some(first) = of_epoch.first() else {
        return Some((Wrong::Epoch(epoch), format!("leader epoch {epoch} is not on record")));
    };
    if let Some(leader) = told.leader
        && first.leader != Some(leader)
    {
        let on_record = first.leader.map_or("nobody".to_owned(), |node| format!("node {node}"));
        let why = format!("node {leader} leads epoch {epoch}; on record is {on_record}");
        return Some((Wrong::Leader(epoch, leader), why));
    }
    let isr = set(&told.isr);
    let is_it = |state: &&&Registration| {
        told.partition_epoch.is_none_or(|of_told| state.partition_epoch == of_told)
    };
    if of_epoch.iter().filter(is_it).any(|state| set(&state.isr) == isr) {
        return None;
    }
    let partition_epoch = told.partition_epoch;
    let of = partition_epoch.map_or_else(String::new, |of| format!(", partition epoch {of}"));
    let why = format!("ISR {:?} under epoch {epoch}{of} is not on record", told.isr);
    let isr: Vec<NodeId> = isr.into_iter().collect();
    Some((Wrong::Isr(epoch, partition_epoch, isr), why))
}

fn set(nodes: &[NodeId]) -> BTreeSet<NodeId> {
    nodes.iter().copied().collect()
}
