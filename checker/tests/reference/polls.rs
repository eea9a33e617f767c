//! The classes about the order of what one process reads.

use std::collections::BTreeMap;

use highwater_history::{Key, Offset};

use super::{
    facts::Facts,
    history::Operation,
    tally::{Promised, Tally},
};

/// A way from one place of a key to the next one that was read.
pub struct Way {
    pub key: Key,
    pub from: Offset,
    pub to: Offset,
    /// Whether the process had last subscribed.
    pub subscribed: bool,
}

/// A process goes from its position to the first place that an operation read with a step below 1.
pub fn nonmonotonic_poll(facts: &Facts, _: &Promised) -> Tally {
    let ways = outer_ways(facts);
    let back = ways.iter().filter(|way| facts.step(&way.key, way.from, way.to) < 1);
    back.map(|way| way.subscribed).collect()
}

/// The same with a step above 1: one anomaly, however many offsets are skipped.
pub fn poll_skip(facts: &Facts, promised: &Promised) -> Tally {
    let ways = outer_ways(facts);
    let skips = ways.iter().filter(|way| facts.step(&way.key, way.from, way.to) > 1);
    skips.map(|way| way.subscribed || skipped_unread(facts, promised, way)).collect()
}

/// Neighbouring records of a key within one operation, all its polls in a row: a step below 1.
pub fn int_nonmonotonic_poll(facts: &Facts, _: &Promised) -> Tally {
    let ways = inner_ways(facts);
    let back = ways.iter().filter(|way| facts.step(&way.key, way.from, way.to) < 1);
    back.map(|_| false).collect()
}

/// The same with a step above 1.
pub fn int_poll_skip(facts: &Facts, promised: &Promised) -> Tally {
    let ways = inner_ways(facts);
    let skips = ways.iter().filter(|way| facts.step(&way.key, way.from, way.to) > 1);
    skips.map(|way| skipped_unread(facts, promised, way)).collect()
}

/// What acks 0 or 1 permit: to skip what nobody ever read.
fn skipped_unread(facts: &Facts, promised: &Promised, way: &Way) -> bool {
    promised.weak_acks && !facts.some_read_between(&way.key, way.from, way.to)
}

/// Every way from a process's position on a key to the first place that an operation read.
pub fn outer_ways(facts: &Facts) -> Vec<Way> {
    let mut ways = Vec::new();
    for operations in facts.by_process().into_values() {
        let mut positions: BTreeMap<Key, Offset> = BTreeMap::new();
        let mut subscribed = false;
        for op in operations {
            if let Some(assignment) = op.assignment.as_ref().filter(|_| !op.is_fail()) {
                let kept = |key: &Key| assignment.keys.contains(key) && !assignment.from_beginning;
                positions.retain(|key, _| kept(key));
                subscribed = assignment.by_subscribe;
            }
            ways.extend(ways_of(facts, op, &mut positions, subscribed));
        }
    }
    ways
}

/// The ways into one operation; an ok one moves the positions to the last place that it read.
fn ways_of(
    facts: &Facts,
    op: &Operation,
    positions: &mut BTreeMap<Key, Offset>,
    subscribed: bool,
) -> Vec<Way> {
    let mut ways = Vec::new();
    for key in facts.keys() {
        let places = facts.read_places(op, &key);
        let (Some(&to), Some(&last)) = (places.first(), places.last()) else { continue };
        if let Some(&from) = positions.get(&key) {
            ways.push(Way { key: key.clone(), from, to, subscribed });
        }
        if op.is_ok() {
            positions.insert(key, last);
        }
    }
    ways
}

/// Every way between neighbours within one operation, but of keys in its rebalance-log.
pub fn inner_ways(facts: &Facts) -> Vec<Way> {
    let mut ways = Vec::new();
    for op in &facts.operations {
        for key in facts.keys().into_iter().filter(|key| !op.rebalanced.contains(key)) {
            for pair in facts.read_places(op, &key).windows(2) {
                let (from, to) = (pair[0], pair[1]);
                ways.push(Way { key: key.clone(), from, to, subscribed: false });
            }
        }
    }
    ways
}
