//! The classes about the order of what one process reads.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Whether the process had last subscribed, and may be moved by its group.
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
            let subscribed = subscribed && !is_below_own_commit(facts, op, &key, to);
            ways.push(Way { key: key.clone(), from, to, subscribed });
        }
        if op.is_ok() {
            positions.insert(key, last);
        }
    }
    ways
}

/// Whether a place lies below what the process itself committed last, of some group and before, in
/// a generation, and no commit that does not lie before that one has named as little.
fn is_below_own_commit(facts: &Facts, op: &Operation, key: &Key, place: Offset) -> bool {
    let commits = |group: &str| {
        let mut named = Vec::new();
        for other in facts.operations.iter().filter(|other| !other.is_fail()) {
            let Some(commit) = other.commit.as_ref().filter(|it| it.group == group) else {
                continue;
            };
            if let Some((_, offset)) = commit.offsets.iter().find(|(of, _)| of == key) {
                named.push((other, *offset, commit.generation));
            }
        }
        named
    };
    let groups: BTreeSet<_> =
        facts.operations.iter().filter_map(|op| Some(op.commit.as_ref()?.group.clone())).collect();
    groups.into_iter().any(|group| {
        let named = commits(&group);
        let own = named
            .iter()
            .filter(|(other, _, generation)| other.process == op.process && generation.is_some());
        let mut before = own.filter(|(other, ..)| other.is_ok() && other.ended_before(op));
        let Some((last, offset, _)) = before.next_back() else { return false };
        let excused = named.iter().any(|(other, as_little, _)| {
            let over = other.is_ok() && other.ended_before(last);
            *as_little <= place && !over && !op.ended_before(other)
        });
        place < *offset && !excused
    })
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

/// A process that went back to the beginning of a key skips if its first ok operation that read a
/// place of the key then begins above what an operation read that was invoked after that one ended.
/// Permitted of who subscribed, and for want of one clock where only others read it.
pub fn reset_skip(facts: &Facts, _: &Promised) -> Tally {
    let mut tally = Tally::default();
    for operations in facts.by_process().into_values() {
        let (mut waiting, mut subscribed) = (BTreeSet::new(), false);
        for op in operations {
            if let Some(assignment) = op.assignment.as_ref().filter(|_| !op.is_fail()) {
                subscribed = assignment.by_subscribe;
                waiting = match assignment.from_beginning {
                    true => assignment.keys.clone(),
                    false => BTreeSet::new(),
                };
            }
            for key in waiting.clone().into_iter().filter(|_| op.is_ok()) {
                let Some(&first) = facts.read_places(op, &key).first() else { continue };
                waiting.remove(&key);
                let later = facts.operations.iter().filter(|other| op.ended_before(other));
                let lower = |other: &&Operation| {
                    facts.read_places(other, &key).iter().any(|place| *place < first)
                };
                let lower: Vec<_> = later.filter(lower).collect();
                if !lower.is_empty() {
                    let by_others = lower.iter().all(|other| other.process != op.process);
                    tally.add(subscribed || by_others);
                }
            }
        }
    }
    tally
}

/// A record has successors that mismatch if operations, but for keys in their rebalance-log, were
/// given two or more other records right behind it, and the offset of it or of one of these is not
/// known.
pub fn successor_mismatch(facts: &Facts, _: &Promised) -> Tally {
    let mut tally = Tally::default();
    for (key, value) in facts.read_records() {
        let mut successors = BTreeSet::new();
        for op in facts.operations.iter().filter(|op| !op.rebalanced.contains(&key)) {
            let read: Vec<_> = op.reads.iter().filter(|read| read.key == key).collect();
            let pairs = read.windows(2).filter(|pair| pair[0].value == value);
            successors.extend(pairs.map(|pair| pair[1].value).filter(|next| *next != value));
        }
        let is_unknown = |value| facts.offsets(&key, value).is_empty();
        let some_unknown = is_unknown(value) || successors.iter().any(|next| is_unknown(*next));
        if successors.len() >= 2 && some_unknown {
            tally.add(false);
        }
    }
    tally
}
