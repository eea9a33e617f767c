//! Observes events in order, pairs invocations with completions, and fills the index.

mod answers;
mod completion;
mod invocation;

use std::{collections::BTreeMap, fmt};

use highwater_history::{
    Event, EventValue, Key, TimeNs,
    columns::{Columns, Head, KeyAt, Row},
    event::{EventKind, Function, NOTE, Process},
    promise::Promises,
    types::ProcessId,
    verdict::Counts,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    GroupCommit, GroupFetch, Index, KeyId, KeyIndex,
    foreign::Foreign,
    groups,
    operations::{Ended, OpId, Operations, Outcome},
    order::Order,
    records::RecordId,
};
use crate::{parallel, part::Part};

/// How many notes of a history are kept.
const MOST_NOTES: usize = 100;

/// Why a history cannot be judged: something that judging assumes does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    /// Line of the event, counted from 1; position in memory histories.
    pub line: u64,
    /// What does not hold.
    pub why: String,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// Observes events in order.
pub struct Builder<'a> {
    index: Index,
    promises: Option<&'a Promises>,
    /// The operation in flight of each process, and room for the next one's.
    pending: Vec<Option<Box<Pending>>>,
    /// Group commits, as far as their invocations or completions tell.
    commits: BTreeMap<OpId, GroupCommit>,
    /// What was asked of groups, and answered.
    fetches: BTreeMap<OpId, GroupFetch>,
    foreign: Foreign,
    /// Whether the operation that ends left evidence of a key of this part.
    leaves_evidence: bool,
    last: Option<(u64, TimeNs)>,
    /// The keys that the columns at hand name, as far as they were met.
    here: Vec<KeyId>,
}

/// Stands for no key.
const NO_KEY: KeyId = KeyId::MAX;

/// An operation in flight, or what is left of one.
struct Pending {
    in_flight: bool,
    op: OpId,
    f: Function,
    sends: Vec<PendingSend>,
    keys: Vec<KeyId>,
    to_beginning: bool,
}

/// A send of an operation in flight.
struct PendingSend {
    micro: usize,
    key: KeyId,
    value: highwater_history::Value,
    /// None where the key belongs to another part.
    record: Option<RecordId>,
}

/// What an event of a client says.
struct Said<'a> {
    number: ProcessId,
    f: &'a Function,
    row: Row<'a>,
    columns: &'a Columns,
}

impl<'a> Said<'a> {
    fn head(&self) -> &Head {
        &self.row.head
    }

    /// What it says beside its micro-operations.
    fn detail(&self) -> Option<&'a Event> {
        self.row.detail()
    }

    /// A value that is no list of micro-operations.
    fn value(&self) -> &'a EventValue {
        self.detail().map_or(&EventValue::None, |event| &event.value)
    }
}

impl<'a> Builder<'a> {
    /// A builder; the manifest's promises say which topics nobody acknowledges.
    pub fn new(promises: Option<&'a Promises>) -> Self {
        Self::of_part(promises, Part::WHOLE)
    }

    /// A builder that keeps evidence of the keys of a part only.
    pub fn of_part(promises: Option<&'a Promises>, part: Part) -> Self {
        Self {
            index: Index { part, ops: Operations::of_part(part), ..Index::default() },
            promises,
            pending: Vec::new(),
            commits: BTreeMap::new(),
            fetches: BTreeMap::new(),
            foreign: Foreign::default(),
            leaves_evidence: false,
            last: None,
            here: Vec::new(),
        }
    }

    /// Takes events in order, until one ends the judgement.
    pub fn observe(&mut self, columns: &Columns) -> Result<(), Unfit> {
        self.here.clear();
        self.here.resize(columns.keys().len(), NO_KEY);
        for row in columns.rows() {
            let line = row.head.line;
            self.take(columns, row).map_err(|why| Unfit { line, why })?;
        }
        Ok(())
    }

    fn take(&mut self, columns: &Columns, row: Row<'_>) -> Result<(), String> {
        self.check_order(&row.head)?;
        self.digest(&row.head);
        let said = match (row.head.shape.function(), row.detail()) {
            (Some(f), _) => Said { number: row.head.process, f, row, columns },
            (None, Some(event)) => match event.process {
                Process::Client(number) => Said { number, f: &event.f, row, columns },
                _ => {
                    self.take_other(event);
                    return Ok(());
                }
            },
            (None, None) => unreachable!("what stands in no column stands beside them"),
        };
        match row.head.kind {
            EventKind::Invoke => self.invoke(&said),
            EventKind::Ok | EventKind::Fail | EventKind::Info => self.complete(&said),
        }
    }

    /// An event of somebody who is no client.
    fn take_other(&mut self, event: &Event) {
        match &event.process {
            Process::Harness => self.introduce(event),
            _ => self.index.others.push(event.clone()),
        }
    }

    /// Completes the index: operations still in flight ended info.
    pub fn finish(mut self) -> Index {
        self.settle_foreign();
        self.index.ops.shrink();
        parallel::change(&mut self.index.keys, KeyIndex::shrink);
        self.so_far();
        self.index
    }

    /// The index of what was observed so far, of a whole history: of operations in flight nobody
    /// knows how they end.
    pub fn so_far(&mut self) -> &Index {
        self.settle();
        self.count();
        self.index.ended_at = self.last.map_or(0, |(_, time)| time);
        let Index { processes, ops, .. } = &self.index;
        let commits = self.commits.values().cloned();
        let fetches = self.fetches.values().cloned();
        self.index.groups = groups::of(commits, fetches, processes, ops);
        let Index { keys, ops, .. } = &mut self.index;
        parallel::change(keys, |key| {
            key.order = Order::build(&key.records, &key.reads, ops);
        });
        &self.index
    }

    fn digest(&mut self, event: &Head) {
        if self.is_whole() {
            return;
        }
        let digest = &mut self.index.digest;
        digest.events += 1;
        digest.take(event.index);
        digest.take(event.time << 2 | event.kind as u64);
    }

    /// Whether all keys are judged here: nobody compares what was read.
    fn is_whole(&self) -> bool {
        self.index.part == Part::WHOLE
    }

    fn check_order(&mut self, event: &Head) -> Result<(), String> {
        if let Some((index, time)) = self.last {
            if event.index <= index {
                return Err(format!("index {} does not rise above {index}", event.index));
            }
            if event.time < time {
                return Err(format!("time runs back from {time} to {} ns", event.time));
            }
        }
        self.check_gap(event.index)?;
        self.last = Some((event.index, event.time));
        Ok(())
    }

    /// Whoever recorded a run recorded every event: what is missing may be the send of a record or
    /// the fault that took it. Other histories may have been filtered.
    fn check_gap(&mut self, index: u64) -> Result<(), String> {
        let expected = self.last.map_or(0, |(last, _)| last + 1);
        if index == expected {
            return Ok(());
        }
        if self.promises.is_some() {
            return Err(format!("index {index} where {expected} is next: events are missing"));
        }
        self.index.gap.get_or_insert((expected, index));
        Ok(())
    }

    fn introduce(&mut self, event: &Event) {
        match &event.value {
            EventValue::Open(client) => self.index.processes.open((**client).clone()),
            EventValue::OpenTopic(topic) => {
                let key = self.key(&topic.key);
                self.index.keys[key as usize].topic = Some((**topic).clone());
            }
            EventValue::Other(Value::String(note))
                if event.f.as_str() == NOTE && self.index.notes.len() < MOST_NOTES =>
            {
                self.index.notes.push(note.clone());
            }
            _ => {}
        }
    }

    fn named_keys(&mut self, value: &EventValue) -> Vec<KeyId> {
        let EventValue::Keys(keys) = value else { return Vec::new() };
        let mut ids: Vec<KeyId> = keys.iter().map(|key| self.key(key)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn key(&mut self, key: &Key) -> KeyId {
        if let Some(id) = self.index.ids.get(key) {
            return *id;
        }
        let id = KeyId::try_from(self.index.keys.len()).expect("fewer than 2^32 keys");
        self.index.ids.insert(key.clone(), id);
        self.index.keys.push(KeyIndex { key: key.clone(), ..KeyIndex::default() });
        id
    }

    /// A key that stands in the columns at hand. Keys are numbered in the order in which events
    /// name them, wherever the columns begin and end.
    fn key_at(&mut self, columns: &Columns, at: KeyAt) -> KeyId {
        let known = self.here[at as usize];
        if known != NO_KEY {
            return known;
        }
        let id = self.key(&columns.keys()[at as usize]);
        self.here[at as usize] = id;
        id
    }

    /// Decides which operations are certain that sent to keys of several parts, now that all reads
    /// are known.
    fn settle_foreign(&mut self) {
        for pending in std::mem::take(&mut self.pending).into_iter().flatten() {
            if pending.in_flight {
                self.note_uncertain(&pending);
            }
        }
        std::mem::take(&mut self.foreign).settle(&mut self.index.ops);
    }

    /// Decides which operations are certain by what was read of them.
    fn settle(&mut self) {
        let Index { ops, keys, .. } = &mut self.index;
        for records in keys.iter().map(|key| &key.records) {
            for record in records.ids() {
                // Where a record is known to have been sent, so is how its operation ended.
                let asks = records.is_ok_read(record) && records.outcome(record) != Outcome::Ok;
                if let Some(sender) = records.sender(record).filter(|_| asks) {
                    ops.get_mut(sender).some_ok_read = true;
                }
            }
        }
    }

    fn count(&mut self) {
        let Index { ops, keys, counts, ok_read, .. } = &mut self.index;
        let Ended { ok, fail, info } = ops.ended();
        *counts = Counts { ops: ok + fail + info, ok, fail, info, ..Counts::default() };
        *ok_read = 0;
        for records in keys.iter().map(|key| &key.records) {
            for record in records.ids() {
                counts.sent += u64::from(records.sender(record).is_some());
                counts.acknowledged += u64::from(records.is_acknowledged(record));
                counts.read += u64::from(records.is_read(record));
                *ok_read += u64::from(records.is_ok_read(record));
            }
        }
    }
}
