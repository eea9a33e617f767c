//! Operations: an invocation and its completion, as part 1 of the definitions says.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Event, EventValue, Key, Offset, TimeNs, Value,
    event::{EventKind, Function, MicroOp, Process},
};

/// A record that an operation sends, and the offset that its completion names.
pub struct Send {
    pub key: Key,
    pub value: Value,
    pub ack: Option<Offset>,
    /// The record's own key.
    pub record_key: Option<String>,
}

/// What a process commits for a group.
pub struct Commit {
    pub group: String,
    pub generation: Option<i64>,
    pub offsets: Vec<(Key, Offset)>,
}

/// What a process asked of a group's committed offsets, and was answered: none where the group had
/// committed nothing of a key.
pub struct Fetch {
    pub group: String,
    pub offsets: Vec<(Key, Option<Offset>)>,
}

/// A record that a poll of an operation returned, and the offset that this very poll named.
pub struct Read {
    pub key: Key,
    pub value: Value,
    pub offset: Option<Offset>,
}

/// The keys that an assign or subscribe takes instead of the current ones.
pub struct Assignment {
    pub keys: BTreeSet<Key>,
    pub by_subscribe: bool,
    pub from_beginning: bool,
}

/// Where an event stands in the history, and when it happened.
#[derive(Clone, Copy)]
pub struct Instant {
    pub index: u64,
    pub time: TimeNs,
}

/// What one process did between an invocation and its completion.
pub struct Operation {
    pub process: u64,
    pub f: Function,
    pub invoked: Instant,
    /// When it completed; never, for a crash.
    pub completed: Option<Instant>,
    /// `Ok`, `Fail` or `Info`; an operation that never completes is `Info`.
    pub outcome: EventKind,
    pub sends: Vec<Send>,
    pub reads: Vec<Read>,
    pub assignment: Option<Assignment>,
    pub commit: Option<Commit>,
    pub fetch: Option<Fetch>,
    /// Where it was told that logs end.
    pub ends: Vec<(Key, Offset)>,
    /// Keys of its rebalance-log.
    pub rebalanced: BTreeSet<Key>,
}

impl Operation {
    pub fn is_ok(&self) -> bool {
        self.outcome == EventKind::Ok
    }

    pub fn is_fail(&self) -> bool {
        self.outcome == EventKind::Fail
    }

    /// Whether its completion stands before another's invocation.
    pub fn ended_before(&self, other: &Self) -> bool {
        self.completed.is_some_and(|completed| completed.index < other.invoked.index)
    }

    fn of(process: u64, invoke: &Event, completion: Option<&Event>) -> Self {
        let told = completion.filter(|event| event.value != EventValue::None);
        let last = told.unwrap_or(invoke);
        let rebalances = completion.and_then(|event| event.rebalance_log.as_ref());
        let instant = |event: &Event| Instant { index: event.index, time: event.time };
        Self {
            process,
            f: invoke.f.clone(),
            invoked: instant(invoke),
            completed: completion.map(instant),
            outcome: completion.map_or(EventKind::Info, |event| event.kind),
            sends: sends(invoke, completion),
            reads: completion.map(reads).unwrap_or_default(),
            assignment: assignment(last),
            commit: commit(last),
            fetch: completion.and_then(|done| fetch(invoke, done)),
            ends: completion.map(ends).unwrap_or_default(),
            rebalanced: rebalances.into_iter().flatten().flat_map(|r| r.keys.clone()).collect(),
        }
    }
}

fn micro_ops(event: &Event) -> &[MicroOp] {
    match &event.value {
        EventValue::Ops(ops) => ops,
        _ => &[],
    }
}

/// What the invocation asked to send, in its order, with what the completion says of each.
fn sends(invoke: &Event, completion: Option<&Event>) -> Vec<Send> {
    let mut sends = Vec::new();
    let record_keys = invoke.extra.get("record_keys");
    for (nth, op) in micro_ops(invoke).iter().enumerate() {
        let MicroOp::Send { key, value, .. } = op else { continue };
        let mut ack = None;
        for done in completion.map(micro_ops).unwrap_or_default() {
            let MicroOp::Send { key: of, value: it, ack: at } = done else { continue };
            if (of, it) == (key, value) {
                ack = at.offset();
            }
        }
        let record_key = record_keys.and_then(|keys| keys[nth].as_str()).map(str::to_owned);
        sends.push(Send { key: key.clone(), value: *value, ack, record_key });
    }
    sends
}

fn assignment(event: &Event) -> Option<Assignment> {
    let (Function::Assign | Function::Subscribe, EventValue::Keys(keys)) = (&event.f, &event.value)
    else {
        return None;
    };
    Some(Assignment {
        keys: keys.iter().cloned().collect(),
        by_subscribe: event.f == Function::Subscribe,
        from_beginning: event.seek_to_beginning,
    })
}

fn commit(event: &Event) -> Option<Commit> {
    let (Function::Commit, EventValue::Offsets(offsets)) = (&event.f, &event.value) else {
        return None;
    };
    Some(Commit {
        group: event.extra.get("group")?.as_str()?.to_owned(),
        generation: event.extra.get("generation").and_then(|generation| generation.as_i64()),
        offsets: offsets.clone(),
    })
}

fn fetch(invoke: &Event, completion: &Event) -> Option<Fetch> {
    let (Function::Committed, EventValue::Offsets(told)) = (&completion.f, &completion.value)
    else {
        return None;
    };
    let EventValue::Keys(asked) = &invoke.value else { return None };
    let answer = |key: &Key| told.iter().find(|(of, _)| of == key).map(|(_, offset)| *offset);
    Some(Fetch {
        group: invoke.extra.get("group")?.as_str()?.to_owned(),
        offsets: asked.iter().map(|key| (key.clone(), answer(key))).collect(),
    })
}

fn ends(completion: &Event) -> Vec<(Key, Offset)> {
    match (&completion.f, &completion.value) {
        (Function::EndOffsets, EventValue::Offsets(ends)) => ends.clone(),
        _ => Vec::new(),
    }
}

fn reads(completion: &Event) -> Vec<Read> {
    let mut reads = Vec::new();
    for op in micro_ops(completion) {
        let MicroOp::Poll { records: Some(polled) } = op else { continue };
        for (key, records) in polled {
            for record in records {
                reads.push(Read { key: key.clone(), value: record.1, offset: record.0 });
            }
        }
    }
    reads
}

/// All operations in the order of their invocations; none where a process had two in flight.
pub fn operations(events: &[Event]) -> Option<Vec<Operation>> {
    let mut pairs: Vec<(u64, &Event, Option<&Event>)> = Vec::new();
    let mut in_flight: BTreeMap<u64, usize> = BTreeMap::new();
    for event in events {
        let Process::Client(process) = event.process else { continue };
        if event.kind == EventKind::Invoke {
            if in_flight.insert(process, pairs.len()).is_some() {
                return None;
            }
            pairs.push((process, event, None));
        } else {
            let nth = in_flight.remove(&process).expect("a completion has an invocation");
            pairs[nth].2 = Some(event);
        }
    }
    Some(pairs.into_iter().map(|(process, i, c)| Operation::of(process, i, c)).collect())
}
