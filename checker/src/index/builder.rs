//! Observes events in order, pairs invocations with completions, and fills the index.

mod completion;

use std::{collections::BTreeMap, fmt};

use highwater_history::{
    Event, EventValue, Key, TimeNs,
    event::{EventKind, Function, MicroOp, NOTE, Process},
    promise::Promises,
    types::ProcessId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    GroupCommit, Index, KeyId, KeyIndex,
    foreign::Foreign,
    groups,
    operations::{OpId, Operation, Outcome, Requests},
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
    pending: Vec<Option<Pending>>,
    /// Group commits, as far as their invocations or completions tell.
    commits: BTreeMap<OpId, GroupCommit>,
    foreign: Foreign,
    last: Option<(u64, TimeNs)>,
    last_key: Option<KeyId>,
}

/// An operation in flight.
struct Pending {
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

impl<'a> Builder<'a> {
    /// A builder; the manifest's promises say which topics nobody acknowledges.
    pub fn new(promises: Option<&'a Promises>) -> Self {
        Self::of_part(promises, Part::WHOLE)
    }

    /// A builder that keeps evidence of the keys of a part only.
    pub fn of_part(promises: Option<&'a Promises>, part: Part) -> Self {
        Self {
            index: Index { part, ..Index::default() },
            promises,
            pending: Vec::new(),
            commits: BTreeMap::new(),
            foreign: Foreign::default(),
            last: None,
            last_key: None,
        }
    }

    /// Takes one event; an error ends the judgement.
    pub fn observe(&mut self, event: Event) -> Result<(), String> {
        self.check_order(&event)?;
        self.digest(&event);
        match (&event.process, event.kind) {
            (Process::Client(number), EventKind::Invoke) => self.invoke(*number, &event),
            (Process::Client(number), _) => self.complete(*number, &event),
            (Process::Harness, _) => {
                self.introduce(event);
                Ok(())
            }
            (Process::Nemesis | Process::Other(_), _) => {
                self.index.others.push(event);
                Ok(())
            }
        }
    }

    /// Completes the index: operations still in flight ended info.
    pub fn finish(mut self) -> Index {
        self.settle();
        self.count();
        let Index { processes, ops, .. } = &self.index;
        self.index.groups = groups::of(self.commits.into_values(), processes, ops);
        self.index.ops.shrink();
        let Index { keys, ops, .. } = &mut self.index;
        parallel::change(keys, |key| {
            key.records.shrink();
            key.sends.shrink_to_fit();
            key.reads.shrink();
            key.order = Order::build(&key.records, &key.reads, ops);
        });
        self.index
    }

    fn digest(&mut self, event: &Event) {
        let digest = &mut self.index.digest;
        digest.events += 1;
        digest.take(event.index);
        digest.take(event.time << 2 | event.kind as u64);
    }

    fn check_order(&mut self, event: &Event) -> Result<(), String> {
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

    fn introduce(&mut self, event: Event) {
        match event.value {
            EventValue::Open(client) => self.index.processes.open(*client),
            EventValue::OpenTopic(topic) => {
                let key = self.key(&topic.key);
                self.index.keys[key as usize].topic = Some(*topic);
            }
            EventValue::Other(Value::String(note))
                if event.f.as_str() == NOTE && self.index.notes.len() < MOST_NOTES =>
            {
                self.index.notes.push(note);
            }
            _ => {}
        }
    }

    fn invoke(&mut self, number: ProcessId, event: &Event) -> Result<(), String> {
        if let Function::Other(name) = &event.f {
            *self.index.unknown_operations.entry(name.to_string()).or_default() += 1;
        }
        let process = self.index.processes.intern(number);
        self.pending.resize_with(self.index.processes.len(), || None);
        if self.pending[process as usize].is_some() {
            return Err(format!("process {number} invokes while an operation is in flight"));
        }
        let op = self.index.ops.begin(Operation {
            process,
            outcome: Outcome::Info,
            some_ok_read: false,
            transaction: event.f == Function::Txn,
            requests: Requests::Untold,
            node: None,
            invoked: event.index,
            completed: None,
            invoked_at: event.time,
            sent_at: event.time,
            completed_at: TimeNs::MAX,
        });
        let sends = self.begin_sends(op, &event.value)?;
        self.note_record_keys(&sends, event);
        if event.f == Function::Commit {
            self.note_commit(process, op, event);
        }
        let pending = Pending {
            op,
            f: event.f.clone(),
            sends,
            keys: self.named_keys(&event.value),
            to_beginning: event.seek_to_beginning,
        };
        self.pending[process as usize] = Some(pending);
        Ok(())
    }

    fn begin_sends(&mut self, op: OpId, value: &EventValue) -> Result<Vec<PendingSend>, String> {
        let EventValue::Ops(ops) = value else { return Ok(Vec::new()) };
        let mut sends = Vec::new();
        for (micro, op_of) in ops.iter().enumerate() {
            let MicroOp::Send { key, value, .. } = op_of else { continue };
            let id = self.key(key);
            let record = match self.index.part.owns(id) {
                true => self.index.keys[id as usize].send(*value, op).map(Some),
                false => self.foreign.send(id, *value).then_some(None),
            };
            let again = || format!("value {value} is sent to {key} a second time");
            let record = record.ok_or_else(again)?;
            self.index.digest.take(u64::from(id) ^ *value as u64);
            sends.push(PendingSend { micro, key: id, value: *value, record });
        }
        Ok(sends)
    }

    fn note_record_keys(&mut self, sends: &[PendingSend], event: &Event) {
        let Some(keys) = event.extra.get("record_keys").and_then(|keys| keys.as_array()) else {
            return;
        };
        for send in sends {
            let key = keys.get(send.micro).and_then(|key| key.as_str());
            if let (Some(key), Some(record)) = (key, send.record) {
                self.index.record_keys.push((key.to_owned(), send.key, record));
            }
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
        if let Some(last) = self.last_key
            && self.index.keys[last as usize].key == *key
        {
            return last;
        }
        let id = match self.index.ids.get(key) {
            Some(id) => *id,
            None => {
                let id = KeyId::try_from(self.index.keys.len()).expect("fewer than 2^32 keys");
                self.index.ids.insert(key.clone(), id);
                self.index.keys.push(KeyIndex { key: key.clone(), ..KeyIndex::default() });
                id
            }
        };
        self.last_key = Some(id);
        id
    }

    /// Decides which operations are certain, now that all reads are known.
    fn settle(&mut self) {
        for pending in std::mem::take(&mut self.pending).iter().flatten() {
            self.note_uncertain(pending);
        }
        let Index { ops, keys, .. } = &mut self.index;
        std::mem::take(&mut self.foreign).settle(ops);
        for records in keys.iter().map(|key| &key.records) {
            for record in records.ids() {
                let Some(sender) = records.sender(record) else { continue };
                if records.is_ok_read(record) {
                    ops.get_mut(sender).some_ok_read = true;
                }
            }
        }
    }

    fn count(&mut self) {
        let Index { ops, keys, counts, ok_read, .. } = &mut self.index;
        for operation in ops.iter() {
            counts.ops += 1;
            match operation.outcome {
                Outcome::Ok => counts.ok += 1,
                Outcome::Fail => counts.fail += 1,
                Outcome::Info => counts.info += 1,
            }
        }
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
