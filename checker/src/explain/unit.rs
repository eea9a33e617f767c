//! An operation as the history's events, and histories made of some operations.

use highwater_history::{
    Event, EventValue, Key,
    event::{MicroOp, Process},
    types::ProcessId,
    verdict::Finding,
};

/// An operation: its invocation and, where it ended, its completion.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) invoke: Event,
    pub(super) done: Option<Event>,
    /// How many records the whole operation sent or read.
    pub(super) whole: usize,
}

impl Unit {
    /// An operation of which nothing has been left out.
    pub(super) fn new(invoke: Event, done: Option<Event>) -> Self {
        let mut unit = Self { invoke, done, whole: 0 };
        unit.whole = unit.records();
        unit
    }

    /// How many records it sent or read.
    pub(super) fn records(&self) -> usize {
        let of_op = |op: &MicroOp| match op {
            MicroOp::Send { .. } => 1,
            MicroOp::Poll { records } => records.iter().flatten().map(|(_, read)| read.len()).sum(),
        };
        self.micro_ops().iter().map(of_op).sum()
    }

    /// Its process.
    pub(super) fn process(&self) -> ProcessId {
        match self.invoke.process {
            Process::Client(number) => number,
            Process::Nemesis | Process::Harness | Process::Other(_) => {
                unreachable!("only clients have operations")
            }
        }
    }

    /// Its events, in order.
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        std::iter::once(&self.invoke).chain(&self.done)
    }

    /// The index of its invocation, which no other operation has.
    pub(super) fn id(&self) -> u64 {
        self.invoke.index
    }

    /// The micro-operations that tell most: those of the completion, where there are any.
    pub(super) fn micro_ops(&self) -> &[MicroOp] {
        let ops = |event: &'_ Event| matches!(event.value, EventValue::Ops(_));
        match self.done.as_ref().filter(|done| ops(done)).unwrap_or(&self.invoke) {
            Event { value: EventValue::Ops(ops), .. } => ops,
            _ => &[],
        }
    }

    /// Whether it sends the record that a finding is about.
    pub(super) fn sends(&self, finding: &Finding) -> bool {
        self.micro_ops().iter().any(|op| match op {
            MicroOp::Send { key, value, .. } => {
                Some(key) == finding.key.as_ref() && Some(*value) == finding.value
            }
            MicroOp::Poll { .. } => false,
        })
    }

    /// The keys that it sends to, reads, takes or commits.
    pub(super) fn keys(&self) -> Vec<&Key> {
        let mut keys = Vec::new();
        for event in self.events() {
            match &event.value {
                EventValue::Ops(ops) => keys.extend(ops.iter().flat_map(keys_of)),
                EventValue::Keys(named) => keys.extend(named),
                EventValue::Offsets(offsets) => keys.extend(offsets.iter().map(|(key, _)| key)),
                _ => {}
            }
        }
        keys
    }
}

fn keys_of(op: &MicroOp) -> Vec<&Key> {
    match op {
        MicroOp::Send { key, .. } => vec![key],
        MicroOp::Poll { records } => records.iter().flatten().map(|(key, _)| key).collect(),
    }
}

/// The events of operations, in order of index.
pub(super) fn events_of(units: &[Unit]) -> Vec<Event> {
    let mut events: Vec<Event> = units.iter().flat_map(Unit::events).cloned().collect();
    events.sort_by_key(|event| event.index);
    events
}

/// A history of some operations and what stood beside them, its indexes without gaps; and the index
/// that each event had.
pub(super) fn history_of(surroundings: &[Event], units: &[Unit]) -> (Vec<Event>, Vec<u64>) {
    let mut events = events_of(units);
    events.extend(surroundings.iter().cloned());
    events.sort_by_key(|event| event.index);
    let was = events.iter().map(|event| event.index).collect();
    for (nth, event) in events.iter_mut().enumerate() {
        event.index = nth as u64;
    }
    (events, was)
}
