//! The classes about consumer groups and about records' own keys.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{Key, Offset};

use super::{
    facts::Facts,
    history::{Commit, Operation},
    tally::{Promised, Tally},
};

/// A commit is stale that a group accepted though one of a later generation had been accepted, and
/// had ended, before it was invoked. Permitted without one clock for all processes.
pub fn stale_commit(facts: &Facts, _: &Promised) -> Tally {
    let accepted = || commits(facts).filter(|(op, _)| op.is_ok());
    let stale = accepted().filter(|(op, commit)| {
        accepted().any(|(other, later)| {
            let is_later = matches!(
                (commit.generation, later.generation), (Some(own), Some(others)) if others > own
            );
            later.group == commit.group && is_later && other.ended_before(op)
        })
    });
    stale.map(|_| true).collect()
}

/// A group skips a known offset at or above the first that any of its members was given, and below
/// the last one or the highest that it committed, if no member was given it.
pub fn group_skip(facts: &Facts, promised: &Promised) -> Tally {
    let mut tally = Tally::default();
    let groups: BTreeSet<_> = commits(facts).map(|(_, commit)| commit.group.clone()).collect();
    for group in groups {
        for (key, known) in &facts.known {
            let given = given_to(facts, &group, key);
            let (Some(first), Some(last)) = (given.first(), given.last()) else { continue };
            let end = committed(facts, &group, key).into_iter().chain([*last]).max();
            for (offset, values) in known {
                if offset >= first && Some(*offset) < end && !given.contains(offset) {
                    let read = values.iter().any(|value| facts.is_read(&(key.clone(), *value)));
                    tally.add(promised.weak_acks && !read);
                }
            }
        }
    }
    tally
}

fn commits(facts: &Facts) -> impl Iterator<Item = (&Operation, &Commit)> {
    facts.operations.iter().filter_map(|op| Some((op, op.commit.as_ref()?)))
}

/// The places of what the processes that commit for a group read of a key, in any operation.
fn given_to(facts: &Facts, group: &str, key: &Key) -> BTreeSet<Offset> {
    let of_group = commits(facts).filter(|(_, commit)| commit.group == group);
    let members: BTreeSet<u64> = of_group.map(|(op, _)| op.process).collect();
    let reads =
        facts.all_reads().filter(|(op, read)| members.contains(&op.process) && read.key == *key);
    reads.filter_map(|(_, read)| facts.place_of_read(read)).collect()
}

/// Every offset of a key that a group committed.
fn committed(facts: &Facts, group: &str, key: &Key) -> Vec<Offset> {
    let accepted = commits(facts).filter(|(op, commit)| op.is_ok() && commit.group == group);
    let offsets = accepted.flat_map(|(_, commit)| &commit.offsets);
    offsets.filter(|(of, _)| of == key).map(|(_, offset)| *offset).collect()
}

/// A record's own key is on two partitions if certain records with it stand on two or more keys of
/// one topic.
pub fn key_on_two_partitions(facts: &Facts, _: &Promised) -> Tally {
    let mut partitions: BTreeMap<_, BTreeSet<&Key>> = BTreeMap::new();
    for (_, send) in facts.all_sends().filter(|(op, _)| facts.is_certain(op)) {
        let (topic, _) = send.key.rsplit_once('-').expect("a key is NAME-PARTITION");
        if let Some(record_key) = &send.record_key {
            partitions.entry((topic, record_key)).or_default().insert(&send.key);
        }
    }
    partitions.into_values().filter(|keys| keys.len() >= 2).map(|_| false).collect()
}
