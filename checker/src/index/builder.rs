//! Observes events in order, pairs invocations with completions, and fills the index.

use std::fmt;

use highwater_history::{
    Event, EventValue, Key, Offset, TimeNs,
    event::{Acks, Attempts, EventError, EventKind, Function, MicroOp, Process, ReadRecord},
    promise::Promises,
    types::ProcessId,
};

use super::{
    Index, KeyId, KeyIndex, Tried,
    operations::{OpId, Operation, Outcome, Requests},
    order::Order,
    processes::Assignment,
    records::RecordId,
};

/// Why a history cannot be judged: something that judging assumes does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    record: RecordId,
}

/// A client's completion, taken apart.
struct Completion<'e> {
    event: &'e Event,
    op: OpId,
    outcome: Outcome,
}

impl<'a> Builder<'a> {
    /// A builder; the manifest's promises say which topics nobody acknowledges.
    pub fn new(promises: Option<&'a Promises>) -> Self {
        Self { index: Index::default(), promises, pending: Vec::new(), last: None, last_key: None }
    }

    /// Takes one event; an error ends the judgement.
    pub fn observe(&mut self, event: Event) -> Result<(), String> {
        self.check_order(&event)?;
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
        for key in &mut self.index.keys {
            key.order = Order::build(&key.records, &key.reads, &self.index.ops);
        }
        self.index
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
        self.last = Some((event.index, event.time));
        Ok(())
    }

    fn introduce(&mut self, event: Event) {
        match event.value {
            EventValue::Open(client) => self.index.processes.open(*client),
            EventValue::OpenTopic(topic) => {
                let key = self.key(&topic.key);
                self.index.keys[key as usize].topic = Some(*topic);
            }
            _ => {}
        }
    }

    fn invoke(&mut self, number: ProcessId, event: &Event) -> Result<(), String> {
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
            completed_at: TimeNs::MAX,
        });
        let sends = self.begin_sends(op, &event.value)?;
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
            let index = &mut self.index.keys[id as usize];
            let record = index
                .records
                .send(*value, op)
                .ok_or_else(|| format!("value {value} is sent to {key} a second time"))?;
            index.sends.push(record);
            sends.push(PendingSend { micro, key: id, record });
        }
        Ok(sends)
    }

    fn named_keys(&mut self, value: &EventValue) -> Vec<KeyId> {
        let EventValue::Keys(keys) = value else { return Vec::new() };
        let mut ids: Vec<KeyId> = keys.iter().map(|key| self.key(key)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn complete(&mut self, number: ProcessId, event: &Event) -> Result<(), String> {
        let process = self.index.processes.intern(number);
        self.pending.resize_with(self.index.processes.len(), || None);
        let pending = self.pending[process as usize]
            .take()
            .ok_or_else(|| format!("process {number} completes what it never invoked"))?;
        if pending.f != event.f {
            let (began, ended) = (pending.f.as_str(), event.f.as_str());
            return Err(format!("process {number} invokes {began} and completes {ended}"));
        }
        let outcome = effective_outcome(event);
        let operation = self.index.ops.get_mut(pending.op);
        operation.outcome = outcome;
        operation.requests = requests(event);
        operation.node = event.node;
        operation.completed = Some(event.index);
        operation.completed_at = event.time;
        let completion = Completion { event, op: pending.op, outcome };
        self.complete_sends(process, &completion, &pending)?;
        self.complete_polls(&completion);
        self.note_attempts(&completion, &pending);
        self.note_assignment(process, &completion, pending);
        Ok(())
    }

    fn complete_sends(
        &mut self,
        process: u32,
        completion: &Completion<'_>,
        pending: &Pending,
    ) -> Result<(), String> {
        let acked = match &completion.event.value {
            EventValue::Ops(ops) => {
                let acked = ops.iter().filter_map(|op| match op {
                    MicroOp::Send { key, value, ack } => Some((key, *value, ack.offset())),
                    MicroOp::Poll { .. } => None,
                });
                Some(acked.collect::<Vec<_>>())
            }
            _ => None,
        };
        if let Some(acked) = &acked
            && acked.len() != pending.sends.len()
        {
            let (told, asked) = (acked.len(), pending.sends.len());
            return Err(format!("a completion names {told} sends, its invocation {asked}"));
        }
        for (nth, send) in pending.sends.iter().enumerate() {
            let told = acked.as_ref().map(|acked| acked[nth]);
            if let Some((key, value, _)) = told {
                self.check_same_send(send, key, value)?;
            }
            let outcome = micro_outcome(completion, send.micro);
            let offset = told.and_then(|(_, _, offset)| offset);
            self.complete_send(process, send, outcome, offset);
        }
        Ok(())
    }

    fn check_same_send(&self, send: &PendingSend, key: &Key, value: i64) -> Result<(), String> {
        let index = &self.index.keys[send.key as usize];
        let asked = index.records.value(send.record);
        if index.key == *key && asked == value {
            return Ok(());
        }
        Err(format!(
            "a completion names value {value} of {key}, its invocation {asked} of {}",
            index.key
        ))
    }

    fn complete_send(
        &mut self,
        process: u32,
        send: &PendingSend,
        outcome: Outcome,
        offset: Option<Offset>,
    ) {
        let unacknowledged = outcome == Outcome::Ok
            && offset.is_none()
            && self.acks_of(process, send.key) == Some(Acks::Zero);
        let records = &mut self.index.keys[send.key as usize].records;
        records.complete(send.record, outcome, offset);
        if unacknowledged {
            records.mark_unacknowledged(send.record);
        }
    }

    /// The acks level that history and manifest state for a send.
    fn acks_of(&self, process: u32, key: KeyId) -> Option<Acks> {
        self.index.processes.acks(process).or_else(|| {
            let promises = self.promises?;
            let topic = promises.topics.get(self.index.keys[key as usize].topic_name());
            topic.and_then(|promise| promise.acks).or(promises.run.acks)
        })
    }

    fn complete_polls(&mut self, completion: &Completion<'_>) {
        let event = completion.event;
        if let EventValue::Ops(ops) = &event.value {
            for op in ops {
                let MicroOp::Poll { records: Some(keys) } = op else { continue };
                for (key, records) in keys {
                    let key = self.key(key);
                    self.read(key, completion, records);
                }
            }
        }
        for (key, runs) in event.leader_epochs.iter().flatten() {
            let key = self.key(key);
            let reads = &mut self.index.keys[key as usize].reads;
            for run in runs {
                reads.push_epoch(completion.op, run.0, run.1);
            }
        }
        for key in event.rebalance_log.iter().flatten().flat_map(|moved| &moved.keys) {
            let key = self.key(key);
            self.index.keys[key as usize].reads.mark_rebalanced(completion.op);
        }
        for error in event.payload_errors.iter().flatten() {
            let key = self.key(&error.key);
            let errors = &mut self.index.keys[key as usize].payload_errors;
            errors.push((completion.op, error.clone()));
        }
    }

    fn read(&mut self, key: KeyId, completion: &Completion<'_>, read: &[ReadRecord]) {
        let Completion { op, outcome, .. } = *completion;
        let ok = outcome == Outcome::Ok;
        let KeyIndex { records, reads, .. } = &mut self.index.keys[key as usize];
        for &ReadRecord(offset, value) in read {
            let record = records.read(value, op, outcome);
            reads.push(op, offset, record, ok);
        }
    }

    fn note_attempts(&mut self, completion: &Completion<'_>, pending: &Pending) {
        let event = completion.event;
        let (Some(Attempts::List(attempts)), Some(id)) = (&event.attempts, event.id) else {
            return;
        };
        let refused = attempts.iter().any(|attempt| super::is_identity_refusal(&attempt.code));
        if attempts.len() > 1 || refused {
            self.index.tried.push(Tried {
                op: completion.op,
                attempts: attempts.clone(),
                id,
                records: pending.sends.iter().map(|send| (send.key, send.record)).collect(),
            });
        }
    }

    fn note_assignment(&mut self, process: u32, completion: &Completion<'_>, pending: Pending) {
        let subscribed = match pending.f {
            Function::Assign => false,
            Function::Subscribe => true,
            _ => return,
        };
        if completion.outcome == Outcome::Fail {
            return;
        }
        let keys = match &completion.event.value {
            EventValue::Keys(_) => self.named_keys(&completion.event.value),
            _ => pending.keys,
        };
        self.index.processes.get_mut(process).assignments.push(Assignment {
            event: completion.event.index,
            keys,
            to_beginning: pending.to_beginning || completion.event.seek_to_beginning,
            subscribed,
        });
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
        let Index { ops, keys, .. } = &mut self.index;
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

/// How an operation ended; a definite error of a client with hidden retries says nothing (rule 40).
fn effective_outcome(event: &Event) -> Outcome {
    match event.kind {
        EventKind::Ok => Outcome::Ok,
        EventKind::Fail if event.attempts != Some(Attempts::Hidden) => Outcome::Fail,
        EventKind::Fail | EventKind::Info | EventKind::Invoke => Outcome::Info,
    }
}

/// How one micro-operation ended, where it differs from the whole.
fn micro_outcome(completion: &Completion<'_>, micro: usize) -> Outcome {
    let errors = completion.event.errors.as_ref();
    match errors.and_then(|errors| errors.get(micro)).and_then(Option::as_ref) {
        None => completion.outcome,
        Some(error) if is_definite(error, completion.event) => Outcome::Fail,
        Some(_) => Outcome::Info,
    }
}

fn is_definite(error: &EventError, event: &Event) -> bool {
    event.attempts != Some(Attempts::Hidden)
        && (error.is_definite() || event.kind == EventKind::Fail)
}

fn requests(event: &Event) -> Requests {
    match &event.attempts {
        None => Requests::Untold,
        Some(Attempts::List(attempts)) if attempts.len() == 1 => Requests::One,
        Some(Attempts::List(_) | Attempts::Hidden) => Requests::Many,
    }
}
