//! Makes a case smaller while something still holds of it.

use highwater_history::{
    Event, EventValue, Promise,
    event::{EventKind, MicroOp},
};

use super::{case::Case, mutate::renumber};

/// Drops operations, single events, micro-operations, records and promises as long as the rest
/// `still` is of the kind looked for.
pub fn shrink(mut case: Case, still: impl Fn(&Case) -> bool) -> Case {
    loop {
        let smaller = smaller(&case).into_iter().find(|smaller| still(smaller));
        match smaller {
            Some(smaller) => case = smaller,
            None => return case,
        }
    }
}

/// Every case that is one step smaller, the largest steps first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    for dropped in operations(&case.events) {
        let kept = case.events.iter().enumerate().filter(|(nth, _)| !dropped.contains(nth));
        cases.push(with(case, kept.map(|(_, event)| event.clone()).collect()));
    }
    for (nth, event) in case.events.iter().enumerate() {
        for simpler in simpler(event) {
            let mut events = case.events.clone();
            events[nth] = simpler;
            cases.push(with(case, events));
        }
    }
    if case.promise != Promise::default() {
        cases.push(Case { events: case.events.clone(), promise: Promise::default() });
    }
    cases
}

fn with(case: &Case, mut events: Vec<Event>) -> Case {
    renumber(&mut events);
    Case { events, promise: case.promise.clone() }
}

/// The positions of each operation's events; events of others stand alone.
fn operations(events: &[Event]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (nth, event) in events.iter().enumerate() {
        let mut open = groups.iter_mut().filter(|group| group.len() == 1);
        let begun = open.rfind(|group| events[group[0]].process == event.process);
        match begun.filter(|_| event.kind != EventKind::Invoke) {
            Some(group) => group.push(nth),
            None => groups.push(vec![nth]),
        }
    }
    groups
}

/// The event with one record of a poll less, or with one poll less.
fn simpler(event: &Event) -> Vec<Event> {
    let EventValue::Ops(ops) = &event.value else { return Vec::new() };
    let mut events = Vec::new();
    let mut push = |ops: Vec<MicroOp>| {
        events.push(Event { value: EventValue::Ops(ops), ..event.clone() });
    };
    for (nth, op) in ops.iter().enumerate() {
        let MicroOp::Poll { records: Some(records) } = op else { continue };
        for (of, (_, read)) in records.iter().enumerate() {
            for record in 0..read.len() {
                let mut ops = ops.clone();
                let MicroOp::Poll { records: Some(records) } = &mut ops[nth] else { continue };
                records[of].1.remove(record);
                push(ops);
            }
        }
    }
    events
}
