//! Completions: how an operation ended, what it was acknowledged, what it read.

use std::num::NonZeroU64;

use highwater_history::{
    Event, EventValue, Key, Offset, TimeNs, Value,
    columns::{Op, Reads},
    event::{Acks, Attempts, EventError, EventKind, Function},
};

use super::{
    super::{
        GroupCommit, KeyId, KeyIndex, Tried, is_identity_refusal,
        operations::{OpId, Outcome, Requests},
        processes::Assignment,
    },
    Builder, Pending, PendingSend, Said,
};

/// Records of a poll that are compared at once with what is known: where each is another, each is
/// compared as often.
const AT_ONCE: usize = 32;

/// A client's completion, taken apart.
struct Completion<'e> {
    said: &'e Said<'e>,
    op: OpId,
    outcome: Outcome,
}

impl Builder<'_> {
    /// Pairs a completion with its invocation.
    pub(super) fn complete(&mut self, said: &Said<'_>) -> Result<(), String> {
        let process = self.process(said);
        let pending = self.pending[process as usize].take().filter(|pending| pending.in_flight);
        let mut pending = pending
            .ok_or_else(|| format!("process {} completes what it never invoked", said.number))?;
        if pending.f != *said.f {
            let (began, ended) = (pending.f.as_str(), said.f.as_str());
            return Err(format!("process {} invokes {began} and completes {ended}", said.number));
        }
        let (head, detail) = (said.head(), said.detail());
        let outcome = effective_outcome(head.kind, detail);
        let operation = self.index.ops.complete(pending.op, outcome);
        operation.requests = detail.map_or(operation.requests, requests);
        let sent_at = detail.and_then(sent_at).unwrap_or(operation.sent_at);
        operation.sent_at = sent_at.max(operation.invoked_at);
        operation.node = head.node;
        operation.completed = NonZeroU64::new(head.index);
        operation.completed_at = head.time;
        let completion = Completion { said, op: pending.op, outcome };
        let of_offsets =
            matches!(pending.f, Function::Commit | Function::Committed | Function::EndOffsets);
        self.leaves_evidence = of_offsets || pending.sends.iter().any(|send| send.record.is_some());
        self.complete_sends(process, &completion, &pending)?;
        self.complete_polls(&completion);
        if let Some(event) = detail {
            self.complete_details(process, &completion, &pending, event);
        }
        if outcome == Outcome::Info {
            self.note_uncertain(&pending);
        }
        self.note_assignment(process, &completion, &mut pending);
        if !self.leaves_evidence {
            self.index.ops.forget(pending.op);
        }
        pending.in_flight = false;
        self.pending[process as usize] = Some(pending);
        Ok(())
    }

    /// What a completion says beside its micro-operations.
    fn complete_details(
        &mut self,
        process: u32,
        completion: &Completion<'_>,
        pending: &Pending,
        event: &Event,
    ) {
        self.note_reads(completion, event);
        self.note_attempts(event, pending);
        if pending.f == Function::Commit {
            self.note_commit(process, completion.op, event);
        }
        self.note_answer(process, completion.outcome, event, pending);
    }

    fn complete_sends(
        &mut self,
        process: u32,
        completion: &Completion<'_>,
        pending: &Pending,
    ) -> Result<(), String> {
        let Some(ops) = completion.said.row.ops() else {
            for send in &pending.sends {
                self.complete_send(process, send, micro_outcome(completion, send.micro), None);
            }
            return Ok(());
        };
        let told = || ops.iter().filter(|op| matches!(op, Op::Send { .. }));
        if told().count() != pending.sends.len() {
            let (told, asked) = (told().count(), pending.sends.len());
            return Err(format!("a completion names {told} sends, its invocation {asked}"));
        }
        for (send, told) in pending.sends.iter().zip(told()) {
            let Op::Send { key, value, ack } = *told else { continue };
            let key = self.key_at(completion.said.columns, key);
            self.check_same_send(send, key, value)?;
            let outcome = micro_outcome(completion, send.micro);
            self.complete_send(process, send, outcome, ack.offset());
        }
        Ok(())
    }

    fn check_same_send(&self, send: &PendingSend, key: KeyId, value: Value) -> Result<(), String> {
        let asked = send.value;
        if send.key == key && asked == value {
            return Ok(());
        }
        let [key, of] = [key, send.key].map(|id| &self.index.keys[id as usize].key);
        Err(format!("a completion names value {value} of {key}, its invocation {asked} of {of}"))
    }

    fn complete_send(
        &mut self,
        process: u32,
        send: &PendingSend,
        outcome: Outcome,
        offset: Option<Offset>,
    ) {
        let Some(record) = send.record else { return };
        let unacknowledged = outcome == Outcome::Ok
            && offset.is_none()
            && self.acks_of(process, send.key) == Some(Acks::Zero);
        let KeyIndex { records, reads, .. } = &mut self.index.keys[send.key as usize];
        if let Some(offset) = offset {
            reads.name(offset, record);
        }
        records.complete(record, outcome, offset);
        if unacknowledged {
            records.mark_unacknowledged(record);
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
        let row = &completion.said.row;
        for op in row.ops().unwrap_or_default() {
            let Op::Polled { from, to } = *op else { continue };
            for (key, reads) in row.polled(from, to) {
                let key = self.key_at(completion.said.columns, key);
                self.read(key, completion, reads);
            }
        }
    }

    fn note_reads(&mut self, completion: &Completion<'_>, event: &Event) {
        for (key, runs) in event.leader_epochs.iter().flatten() {
            let Some(index) = self.own(key) else { continue };
            for run in runs {
                index.reads.push_epoch(completion.op, run.0, run.1);
            }
        }
        for key in event.rebalance_log.iter().flatten().flat_map(|moved| &moved.keys) {
            if let Some(index) = self.own(key) {
                index.reads.mark_rebalanced(completion.op);
            }
        }
        for error in event.payload_errors.iter().flatten() {
            if let Some(index) = self.own(&error.key) {
                index.payload_errors.push((completion.op, error.clone()));
                self.leaves_evidence = true;
            }
        }
    }

    /// The evidence of a key, unless it belongs to another part.
    pub(super) fn own(&mut self, key: &Key) -> Option<&mut KeyIndex> {
        let id = self.key(key);
        self.index.part.owns(id).then(|| &mut self.index.keys[id as usize])
    }

    fn read(&mut self, key: KeyId, completion: &Completion<'_>, read: Reads<'_>) {
        let Completion { op, outcome, .. } = *completion;
        if !self.is_whole() {
            self.index.digest.take(u64::from(key));
            for (offset, value) in read.iter() {
                self.index
                    .digest
                    .take(offset.map_or(u64::MAX, |at| at as u64) ^ (value as u64) << 8);
            }
        }
        if !self.index.part.owns(key) {
            if outcome == Outcome::Ok {
                self.foreign.ok_read(key, read.iter().map(|(_, value)| value));
            }
            return;
        }
        self.leaves_evidence = true;
        let of_key = &mut self.index.keys[key as usize];
        let mut rest = read;
        while !rest.is_empty() {
            let known = of_key.read_known(op, outcome, rest.first(AT_ONCE));
            rest = rest.after(known);
            if known == AT_ONCE {
                continue;
            }
            if let Some((offset, value)) = rest.iter().next() {
                of_key.read(op, outcome, offset, value);
                rest = rest.after(1);
            }
        }
    }

    /// Of an operation that sent to keys of several parts one read record makes all certain.
    pub(super) fn note_uncertain(&mut self, pending: &Pending) {
        let is_own = |send: &&PendingSend| send.record.is_some();
        if pending.sends.iter().any(|send| is_own(&send)) {
            for send in pending.sends.iter().filter(|send| !is_own(send)) {
                self.foreign.uncertain(pending.op, send.key, send.value);
            }
        }
    }

    fn note_attempts(&mut self, event: &Event, pending: &Pending) {
        if let Some(id) = event.id {
            let newest =
                self.index.newest_epochs.entry(id.producer_id).or_insert(id.producer_epoch);
            *newest = (*newest).max(id.producer_epoch);
        }
        let (Some(Attempts::List(attempts)), Some(id)) = (&event.attempts, event.id) else {
            return;
        };
        let refused = attempts.iter().any(|attempt| is_identity_refusal(&attempt.code));
        let first = pending.sends.first().filter(|_| attempts.len() > 1 || refused);
        if let Some((key, record)) = first.and_then(|first| Some((first.key, first.record?))) {
            let tried = Tried { attempts: attempts.clone(), id, record };
            self.index.keys[key as usize].tried.push(tried);
        }
    }

    /// Takes what was asked, and what the completion says of it if that says anything: who commits
    /// for a group is a member, also where nobody heard of the commit's end.
    pub(super) fn note_commit(&mut self, process: u32, op: OpId, event: &Event) {
        let EventValue::Offsets(offsets) = &event.value else { return };
        let offsets = offsets.iter().map(|(key, offset)| (self.key(key), *offset)).collect();
        let Some(group) = self.group_of(process, event) else { return };
        let generation = event.extra.get("generation").and_then(serde_json::Value::as_i64);
        self.commits.insert(op, GroupCommit { op, process, group, generation, offsets });
    }

    fn note_assignment(
        &mut self,
        process: u32,
        completion: &Completion<'_>,
        pending: &mut Pending,
    ) {
        let subscribed = match pending.f {
            Function::Assign => false,
            Function::Subscribe => true,
            _ => return,
        };
        if completion.outcome == Outcome::Fail {
            return;
        }
        let value = completion.said.value();
        let keys = match value {
            EventValue::Keys(_) => self.named_keys(value),
            _ => std::mem::take(&mut pending.keys),
        };
        let to_beginning = completion.said.detail().is_some_and(|event| event.seek_to_beginning);
        self.index.processes.get_mut(process).assignments.push(Assignment {
            event: completion.said.head().index,
            keys,
            to_beginning: pending.to_beginning || to_beginning,
            subscribed,
        });
    }
}

/// How an operation ended; a definite error of a client with hidden retries says nothing (rule 40).
fn effective_outcome(kind: EventKind, detail: Option<&Event>) -> Outcome {
    let hidden = detail.is_some_and(|event| event.attempts == Some(Attempts::Hidden));
    match kind {
        EventKind::Ok => Outcome::Ok,
        EventKind::Fail if !hidden => Outcome::Fail,
        EventKind::Fail | EventKind::Info | EventKind::Invoke => Outcome::Info,
    }
}

/// How one micro-operation ended, where it differs from the whole.
fn micro_outcome(completion: &Completion<'_>, micro: usize) -> Outcome {
    let error = |event: &'_ Event| event.errors.as_ref()?.get(micro)?.clone();
    let detail = completion.said.detail();
    let definite = |event: &Event, error: &EventError| {
        event.attempts != Some(Attempts::Hidden) && error.is_definite()
    };
    match detail.and_then(|event| Some((event, error(event)?))) {
        None => completion.outcome,
        Some((event, error)) if definite(event, &error) => Outcome::Fail,
        Some(_) => Outcome::Info,
    }
}

/// When the last request of an operation left: the one that was answered.
fn sent_at(event: &Event) -> Option<TimeNs> {
    match &event.attempts {
        Some(Attempts::List(attempts)) => attempts.last().map(|attempt| attempt.at),
        None | Some(Attempts::Hidden) => None,
    }
}

fn requests(event: &Event) -> Requests {
    match &event.attempts {
        None => Requests::Untold,
        Some(Attempts::List(attempts)) if attempts.len() == 1 => Requests::One,
        Some(Attempts::List(_) | Attempts::Hidden) => Requests::Many,
    }
}
