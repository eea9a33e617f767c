//! A valid history that anomalies are put into, and what its logs hold.

use std::collections::BTreeMap;

use highwater_history::{
    Event, EventValue, Key, Offset, Value,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use crate::reference::{facts::Facts, history::operations, model, mutate};

/// Processes and values from here on are not the model's.
const FRESH: u64 = 1_000_000;

/// A valid history in which every record that is in a log is read at the end.
pub struct Field {
    pub rng: ChaCha8Rng,
    pub events: Vec<Event>,
    /// What each log holds, as the reader of the end saw it.
    pub logs: BTreeMap<Key, Vec<(Offset, Value)>>,
    /// The reader of the end.
    pub reader: u64,
    /// Where the next operation of a process may begin.
    after: BTreeMap<u64, usize>,
    /// Where the reader of the end begins: all that is sent is sent by then.
    settled: usize,
    fresh: u64,
}

impl Field {
    pub fn of(seed: u64) -> Self {
        let events = model::history(seed, true);
        let Process::Client(reader) = events[events.len() - 1].process else {
            unreachable!("a closed history ends with a reader")
        };
        let by_reader = |event: &Event| event.process == Process::Client(reader);
        let settled = events.iter().position(by_reader).expect("it assigns its keys");
        let mut field = Self {
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x1_1ec7),
            logs: BTreeMap::new(),
            reader,
            after: [(reader, events.len())].into(),
            settled,
            events,
            fresh: FRESH,
        };
        let facts = field.facts();
        for (op, read) in facts.all_reads() {
            if let Some(offset) = read.offset.filter(|_| op.process == reader) {
                field.logs.entry(read.key.clone()).or_default().push((offset, read.value));
            }
        }
        field
    }

    /// What the history proves.
    pub fn facts(&self) -> Facts {
        Facts::of(operations(&self.events).expect("it is fit"))
    }

    pub fn fresh_process(&mut self) -> u64 {
        self.fresh += 1;
        self.fresh
    }

    pub fn fresh_value(&mut self) -> Value {
        self.fresh_process() as Value
    }

    /// A key whose log holds at least so many records.
    pub fn key_with(&mut self, records: usize) -> Option<Key> {
        let full = self.logs.iter().filter(|(_, log)| log.len() >= records);
        let keys: Vec<_> = full.map(|(key, _)| key.clone()).collect();
        keys.choose(&mut self.rng).cloned()
    }

    /// An offset behind all that is known of a key, and after a gap at times; the log ends there.
    pub fn append(&mut self, key: &Key, value: Value) -> Offset {
        let gap = if self.rng.random_range(0..3) == 0 { 5 } else { 0 };
        let log = self.logs.entry(key.clone()).or_default();
        let offset = log.last().map_or(0, |(offset, _)| offset + 1) + gap;
        log.push((offset, value));
        offset
    }

    /// Lets a process begin only once another one has ended what it does, and all is settled.
    pub fn follow(&mut self, process: u64, other: u64) {
        let after = self.after.get(&other).copied().unwrap_or_default().max(self.settled);
        let own = self.after.entry(process).or_default();
        *own = (*own).max(after);
    }

    /// An operation of sends and polls, as its completion shows them.
    pub fn operate(&mut self, process: u64, f: Function, ops: Vec<MicroOp>, outcome: EventKind) {
        let asked = ops.iter().map(asked).collect();
        self.perform(process, f, [asked, ops].map(EventValue::Ops), outcome);
    }

    /// A process goes back to the beginning of a key.
    pub fn rewind(&mut self, process: u64, key: &Key) {
        let keys = || EventValue::Keys(vec![key.clone()]);
        self.perform(process, Function::Assign, [keys(), keys()], EventKind::Ok);
        for event in &mut self.events {
            let by_process = event.process == Process::Client(process);
            event.seek_to_beginning |= by_process && event.f == Function::Assign;
        }
    }

    /// An operation somewhere after what its process has done, others' events within it.
    pub fn perform(
        &mut self,
        process: u64,
        f: Function,
        [asked, got]: [EventValue; 2],
        outcome: EventKind,
    ) {
        let from = self.after.get(&process).copied().unwrap_or_default();
        let begin = self.rng.random_range(from..=self.events.len());
        let event = |kind, value| {
            Event::new(0, Process::Client(process), kind, f.clone()).with_value(value)
        };
        self.insert(begin, event(EventKind::Invoke, asked));
        let end = self.rng.random_range(begin + 1..=self.events.len());
        self.insert(end, event(outcome, got));
        self.after.insert(process, end + 1);
        mutate::renumber(&mut self.events);
        for event in &mut self.events {
            event.time = event.index * 1000;
        }
    }

    /// Says something beside the values of all that a process does.
    pub fn beside(&mut self, process: u64, name: &str, said: serde_json::Value) {
        let by_process = |event: &&mut Event| event.process == Process::Client(process);
        for event in self.events.iter_mut().filter(by_process) {
            event.extra.insert(name.to_owned(), said.clone());
        }
    }

    fn insert(&mut self, at: usize, event: Event) {
        self.events.insert(at, event);
        for place in self.after.values_mut().chain([&mut self.settled]) {
            *place += usize::from(*place >= at);
        }
    }

    /// An operation that sends records, with the offsets that its completion names.
    pub fn send(&mut self, process: u64, key: &Key, sent: &[(Value, Ack)], outcome: EventKind) {
        let f = if sent.len() > 1 { Function::Txn } else { Function::Send };
        let op = |(value, ack): &(Value, Ack)| send(key, *value, *ack);
        self.operate(process, f, sent.iter().map(op).collect(), outcome);
    }

    /// A poll that returns records of one key.
    pub fn poll(
        &mut self,
        process: u64,
        key: &Key,
        records: &[(Offset, Value)],
        outcome: EventKind,
    ) {
        self.operate(process, Function::Poll, vec![poll(key, records)], outcome);
    }

    /// A new reader, or the one of the end, reads on behind all that was there, after the senders.
    pub fn read_on(&mut self, senders: &[u64], key: &Key, records: &[(Offset, Value)]) {
        let process = if self.rng.random_bool(0.5) { self.reader } else { self.fresh_process() };
        self.follow(process, process);
        senders.iter().for_each(|sender| self.follow(process, *sender));
        self.poll(process, key, records, EventKind::Ok);
    }

    /// Some outcome or other.
    pub fn any_outcome(&mut self) -> EventKind {
        let kinds = [EventKind::Ok, EventKind::Fail, EventKind::Info];
        *kinds.choose(&mut self.rng).expect("there are kinds")
    }

    /// Opens a gap in a log: every offset from this one on is one higher, wherever it is named.
    pub fn open_gap(&mut self, key: &Key, at: Offset) {
        let shift = |offset: &mut Offset| *offset += Offset::from(*offset >= at);
        for event in &mut self.events {
            let EventValue::Ops(ops) = &mut event.value else { continue };
            for op in ops {
                match op {
                    MicroOp::Send { key: of, ack: Ack::At(offset), .. } if of == key => {
                        shift(offset);
                    }
                    MicroOp::Poll { records: Some(polled) } => {
                        let of_key = polled.iter_mut().filter(|(of, _)| of == key);
                        let records = of_key.flat_map(|(_, records)| records);
                        records.filter_map(|record| record.0.as_mut()).for_each(shift);
                    }
                    MicroOp::Send { .. } | MicroOp::Poll { records: None } => {}
                }
            }
        }
        self.logs.entry(key.clone()).or_default().iter_mut().for_each(|(at, _)| shift(at));
    }
}

/// A send as its completion shows it.
pub fn send(key: &Key, value: Value, ack: Ack) -> MicroOp {
    MicroOp::Send { key: key.clone(), value, ack }
}

/// A poll as its completion shows it.
pub fn poll(key: &Key, records: &[(Offset, Value)]) -> MicroOp {
    let records = records.iter().map(|(offset, value)| ReadRecord(Some(*offset), *value));
    MicroOp::Poll { records: Some(vec![(key.clone(), records.collect())]) }
}

fn asked(op: &MicroOp) -> MicroOp {
    match op {
        MicroOp::Send { key, value, .. } => send(key, *value, Ack::None),
        MicroOp::Poll { .. } => MicroOp::Poll { records: None },
    }
}
