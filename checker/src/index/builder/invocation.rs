//! Invocations: an operation begins, and what it asks to send.

use highwater_history::{
    Event, EventValue, TimeNs,
    columns::Op,
    event::{Function, MicroOp},
};

use super::{
    super::{
        KeyId,
        operations::{OpId, Operation, Outcome, Requests},
    },
    Builder, Pending, PendingSend, Said,
};

impl Builder<'_> {
    /// Begins an operation.
    pub(super) fn invoke(&mut self, said: &Said<'_>) -> Result<(), String> {
        if let Function::Other(name) = said.f {
            *self.index.unknown_operations.entry(name.to_string()).or_default() += 1;
            self.note_maybe_sent(said);
        }
        let process = self.process(said);
        let mut pending = self.pending[process as usize].take().unwrap_or_default();
        if pending.in_flight {
            let number = said.number;
            return Err(format!("process {number} invokes while an operation is in flight"));
        }
        let head = said.head();
        let op = self.index.ops.begin(Operation {
            process,
            outcome: Outcome::Info,
            some_ok_read: false,
            transaction: *said.f == Function::Txn,
            requests: Requests::Untold,
            node: None,
            invoked: head.index,
            completed: None,
            invoked_at: head.time,
            sent_at: head.time,
            completed_at: TimeNs::MAX,
        });
        pending.begin(op, said);
        self.begin_sends(op, said, &mut pending.sends)?;
        if let Some(event) = said.detail() {
            self.note_record_keys(event, &pending.sends);
            self.note_question(process, op, event);
            if pending.f == Function::Commit {
                self.note_commit(process, op, event);
            }
            pending.keys = self.named_keys(&event.value);
        }
        self.pending[process as usize] = Some(pending);
        Ok(())
    }

    /// Records that an operation names as sends do, of which nobody knows what it is.
    fn note_maybe_sent(&mut self, said: &Said<'_>) {
        let EventValue::Other(value) = said.value() else { return };
        let Ok(ops) = serde_json::from_value::<Vec<MicroOp>>(value.clone()) else { return };
        for op in ops {
            let MicroOp::Send { key, value, .. } = op else { continue };
            let id = self.key(&key);
            self.index.keys[id as usize].maybe_sent.insert(value);
        }
    }

    /// The position of the process of an event.
    pub(super) fn process(&mut self, said: &Said<'_>) -> u32 {
        let process = self.index.processes.intern(said.number);
        if self.pending.len() <= process as usize {
            self.pending.resize_with(process as usize + 1, || None);
        }
        process
    }

    fn begin_sends(
        &mut self,
        op: OpId,
        said: &Said<'_>,
        sends: &mut Vec<PendingSend>,
    ) -> Result<(), String> {
        for (micro, asked) in said.row.ops().unwrap_or_default().iter().enumerate() {
            let Op::Send { key, value, .. } = *asked else { continue };
            let id = self.key_at(said.columns, key);
            let record = match self.index.part.owns(id) {
                true => self.index.keys[id as usize].send(value, op).map(Some),
                false => self.foreign.send(id, value).then_some(None),
            };
            let again = || self.again(id, value);
            let record = record.ok_or_else(again)?;
            if !self.is_whole() {
                self.index.digest.take(u64::from(id) ^ value as u64);
            }
            sends.push(PendingSend { micro, key: id, value, record });
        }
        Ok(())
    }

    fn again(&self, key: KeyId, value: highwater_history::Value) -> String {
        format!("value {value} is sent to {} a second time", self.index.keys[key as usize].key)
    }

    fn note_record_keys(&mut self, event: &Event, sends: &[PendingSend]) {
        let keys = event.extra.get("record_keys").and_then(|keys| keys.as_array());
        for send in sends.iter().filter(|_| keys.is_some()) {
            let key = keys.and_then(|keys| keys.get(send.micro)?.as_str());
            if let (Some(key), Some(record)) = (key, send.record) {
                self.index.record_keys.push((key.to_owned(), send.key, record));
            }
        }
    }
}

impl Default for Pending {
    fn default() -> Self {
        let (sends, keys) = (Vec::new(), Vec::new());
        Self { in_flight: false, op: 0, f: Function::Send, sends, keys, to_beginning: false }
    }
}

impl Pending {
    fn begin(&mut self, op: OpId, said: &Said<'_>) {
        self.in_flight = true;
        self.op = op;
        self.f = said.f.clone();
        self.to_beginning = said.detail().is_some_and(|event| event.seek_to_beginning);
        self.sends.clear();
        self.keys.clear();
    }
}
