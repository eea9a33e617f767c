//! The classes that count records and offsets.

use std::collections::BTreeSet;

use super::{
    facts::{Facts, Record},
    tally::{Promised, Tally},
};

/// A record is lost that was acknowledged below what was read, and that nobody read.
pub fn lost_write(facts: &Facts, promised: &Promised) -> Tally {
    let lost = facts.all_sends().filter(|(op, send)| facts.is_lost(op, send));
    lost.map(|_| promised.weak_acks).collect()
}

/// A record is duplicated that has two or more known offsets, however many.
pub fn duplicate(facts: &Facts, promised: &Promised) -> Tally {
    let mut tally = Tally::default();
    for (key, offsets) in &facts.known {
        let values: BTreeSet<_> = offsets.values().flatten().copied().collect();
        for value in values {
            if facts.offsets(key, value).len() >= 2 {
                tally.add(!promised.idempotence);
            }
        }
    }
    tally
}

/// An offset of a key is inconsistent at which two or more values are known, however many.
pub fn inconsistent_offsets(facts: &Facts, promised: &Promised) -> Tally {
    let mut tally = Tally::default();
    for (key, offsets) in &facts.known {
        for values in offsets.values().filter(|values| values.len() >= 2) {
            let read = values.iter().filter(|value| facts.is_read(&(key.clone(), **value)));
            tally.add(promised.weak_acks && read.count() <= 1);
        }
    }
    tally
}

/// A record is unseen whose operation ended ok and that was never ok-read; lost ones are counted
/// here as well.
pub fn unseen(facts: &Facts, promised: &Promised) -> Tally {
    let mut tally = Tally::default();
    for (_, send) in facts.all_sends().filter(|(op, _)| op.is_ok()) {
        if !facts.is_ok_read(&send.key, send.value) {
            let read = facts.is_read(&(send.key.clone(), send.value));
            tally.add(promised.weak_acks && !read);
        }
    }
    tally
}

/// A record is a phantom that was read and never sent to that key.
pub fn phantom_read(facts: &Facts, _: &Promised) -> Tally {
    let mut tally = Tally::default();
    for record in facts.read_records() {
        if !facts.is_sent(&record) {
            tally.add(false);
        }
    }
    tally
}

/// G1a is a record whose operation ended fail and that another operation read, of any outcome and
/// however many.
pub fn g1a(facts: &Facts, promised: &Promised) -> Tally {
    let mut aborted: BTreeSet<Record> = BTreeSet::new();
    for (writer, send) in facts.all_sends().filter(|(op, _)| op.is_fail()) {
        for (reader, read) in facts.all_reads() {
            let another = !std::ptr::eq(writer, reader);
            if another && (&read.key, read.value) == (&send.key, send.value) {
                aborted.insert((send.key.clone(), send.value));
            }
        }
    }
    aborted.iter().map(|_| promised.read_uncommitted).collect()
}

/// A record is read before its commit when one operation, of any outcome, both sends and reads it.
pub fn precommitted_read(facts: &Facts, promised: &Promised) -> Tally {
    let mut own: BTreeSet<Record> = BTreeSet::new();
    for (op, send) in facts.all_sends() {
        let mut reads = op.reads.iter();
        if reads.any(|read| (&read.key, read.value) == (&send.key, send.value)) {
            own.insert((send.key.clone(), send.value));
        }
    }
    own.iter().map(|_| promised.read_uncommitted).collect()
}
