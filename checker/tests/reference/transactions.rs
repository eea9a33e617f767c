//! The classes about what belongs together: the reads of one process, the records of one `txn`.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::event::Function;

use super::{
    facts::Facts,
    tally::{Promised, Tally},
};

/// A process and an offset of a key mismatch where its polls, of any outcome, returned two or more
/// records, however many.
pub fn reread_mismatch(facts: &Facts, _: &Promised) -> Tally {
    let mut given: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (op, read) in facts.all_reads() {
        if let Some(offset) = read.offset {
            given.entry((op.process, &read.key, offset)).or_default().insert(read.value);
        }
    }
    given.into_values().filter(|values| values.len() >= 2).map(|_| false).collect()
}

/// A `txn` that did not fail is torn of which one record was ok-read and another one is lost. Who
/// was promised no isolation may read what is aborted later.
pub fn torn_transaction(facts: &Facts, promised: &Promised) -> Tally {
    let unfailed = facts.operations.iter().filter(|op| op.f == Function::Txn && !op.is_fail());
    let torn = unfailed.filter(|op| {
        let there = op.sends.iter().any(|send| facts.is_ok_read(&send.key, send.value));
        let gone = op.sends.iter().any(|send| facts.is_lost(op, send));
        there && gone && !promised.read_uncommitted
    });
    torn.map(|_| promised.weak_acks).collect()
}
