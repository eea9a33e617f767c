//! Every in-sync replica holds everything below any replica's high watermark, and keeps it
//! (rule 26, StrongIsr).

use std::collections::BTreeMap;

use highwater_history::{NodeId, Offset, TimeNs};

use crate::{
    registry::{Registration, Registry},
    view::KeyView,
};

/// By a time everything below an offset was committed, and who was in sync then surely held it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The time in which it came to be known.
    pub during: (TimeNs, TimeNs),
    /// Everything below was committed.
    pub to: Offset,
}

/// A replica that said of itself that it held less than it had to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// The replica.
    pub node: NodeId,
    /// Its log end.
    pub end: Offset,
    /// When it said so.
    pub asked: TimeNs,
    /// What it had to hold since.
    pub committed: Committed,
}

/// Replicas that were surely in sync when something was committed and later lacked it; each once,
/// until it has caught up. `committed` is in order of the end of its times.
///
/// A replica does not lose what is committed but by an unclean election, a fault that costs data or
/// when it is not assigned any more: from there on nothing is said.
pub fn short_of(view: &KeyView<'_>, committed: &[Committed]) -> Vec<Short> {
    debug_assert!(committed.is_sorted_by_key(|known| known.during.1), "in order of time");
    let states = view.states();
    if states.is_empty() || !view.run.registry.is_whole {
        return Vec::new();
    }
    let mut obliged: BTreeMap<NodeId, Vec<Committed>> = BTreeMap::new();
    for known in committed {
        for node in surely_in_sync(states, known.during) {
            let of_node = obliged.entry(node).or_default();
            if of_node.last().is_none_or(|last| last.to < known.to) {
                of_node.push(*known);
            }
        }
    }
    obliged.into_iter().flat_map(|(node, owed)| short(view, node, &owed)).collect()
}

/// Who was in sync in every state that may have held during a time.
pub fn surely_in_sync(states: &[Registration], time: (TimeNs, TimeNs)) -> Vec<NodeId> {
    let states = Registry::during(states, time);
    let Some((first, others)) = states.split_first() else { return Vec::new() };
    let in_all = |node: &&NodeId| others.iter().all(|state| state.isr.contains(node));
    first.isr.iter().filter(in_all).copied().collect()
}

fn short(view: &KeyView<'_>, node: NodeId, owed: &[Committed]) -> Vec<Short> {
    let mut found = Vec::new();
    let mut is_short = false;
    for told in view.replica_samples().iter().filter(|told| told.node == node) {
        if view.may_be_cut_before(told.answered) {
            break;
        }
        let Some(end) = told.state.leo.filter(|end| *end >= 0) else { continue };
        let known = owed.partition_point(|known| known.during.1 < told.asked);
        let Some(committed) = known.checked_sub(1).map(|at| owed[at]) else { continue };
        let lacks = end < committed.to && stayed_assigned(view, node, &committed, told.answered);
        if lacks && !is_short {
            found.push(Short { node, end, asked: told.asked, committed });
        }
        is_short = lacks;
    }
    found
}

fn stayed_assigned(view: &KeyView<'_>, node: NodeId, since: &Committed, until: TimeNs) -> bool {
    let states = Registry::during(view.states(), (since.during.0, until));
    states.iter().all(|state| state.replicas.contains(&node))
}
