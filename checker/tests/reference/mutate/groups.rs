//! Commits of groups and records' own keys, which the model's histories have none of.

use std::collections::BTreeSet;

use highwater_history::{
    Event, EventValue,
    event::{EventKind, Function, MicroOp, Process},
};
use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::{any, reads::polled};

/// Processes commit for one of two groups, here and there between their operations.
pub fn commit(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    let generations = rng.random_range(0..4);
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..=events.len());
        let Some(process) = any(idle(&events[..at]), rng) else { continue };
        let mut offsets = Vec::new();
        if let Some((key, records)) = any(polled(events), rng) {
            let last = records.last().and_then(|record| record.0).unwrap_or(0);
            offsets.push((key, last + rng.random_range(0..=3)));
        }
        let kinds = [EventKind::Ok, EventKind::Ok, EventKind::Fail, EventKind::Info];
        let outcome = *kinds.choose(rng).expect("there are kinds");
        let mut event =
            Event::new(0, Process::Client(process), EventKind::Invoke, Function::Commit)
                .with_value(EventValue::Offsets(offsets));
        event.time = events[at.min(events.len() - 1)].time;
        let group = format!("g-{}", rng.random_range(0..2));
        event.extra.insert("group".to_owned(), group.into());
        if generations > 0 {
            let generation = rng.random_range(1..=generations);
            event.extra.insert("generation".to_owned(), generation.into());
        }
        let completion = Event { kind: outcome, ..event.clone() };
        events.splice(at..at, [event, completion]);
    }
}

/// The processes of a history's beginning that are in no operation at its end.
pub(super) fn idle(events: &[Event]) -> Vec<u64> {
    let mut idle = BTreeSet::new();
    for event in events {
        let Process::Client(process) = event.process else { continue };
        if event.kind == EventKind::Invoke {
            idle.remove(&process);
        } else {
            idle.insert(process);
        }
    }
    idle.into_iter().collect()
}

/// Records get keys of their own, any of twenty.
pub fn give_record_keys(events: &mut [Event], rng: &mut ChaCha8Rng) {
    for event in events {
        let EventValue::Ops(ops) = &event.value else { continue };
        let mut key = |op: &MicroOp| match op {
            MicroOp::Send { .. } => Some(format!("k-{}", rng.random_range(0..20))),
            MicroOp::Poll { .. } => None,
        };
        let keys: Vec<_> = ops.iter().map(&mut key).collect();
        event.extra.insert("record_keys".to_owned(), keys.into());
    }
}
