//! What a bare history proves: who is certain, which offsets are known, where a record stands.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{Key, Offset, Value, event::EventKind};

use super::history::{Operation, Read, Send};

/// A record is a key and a value.
pub type Record = (Key, Value);

/// The operations and what part 1 of the definitions derives from them.
pub struct Facts {
    pub operations: Vec<Operation>,
    /// The values seen at each known offset of each key.
    pub known: BTreeMap<Key, BTreeMap<Offset, BTreeSet<Value>>>,
}

impl Facts {
    pub fn of(operations: Vec<Operation>) -> Self {
        let mut facts = Self { operations, known: BTreeMap::new() };
        let mut seen = Vec::new();
        for op in &facts.operations {
            for send in &op.sends {
                if let Some(offset) = send.ack.filter(|_| facts.is_certain(op)) {
                    seen.push((send.key.clone(), offset, send.value));
                }
            }
            for read in &op.reads {
                if let Some(offset) = read.offset {
                    seen.push((read.key.clone(), offset, read.value));
                }
            }
        }
        for (key, offset, value) in seen {
            facts.known.entry(key).or_default().entry(offset).or_default().insert(value);
        }
        facts
    }

    /// Sent: some invocation asked to send it, whatever came of it.
    pub fn is_sent(&self, (key, value): &Record) -> bool {
        self.all_sends().any(|(_, send)| (&send.key, &send.value) == (key, value))
    }

    /// Read: a poll returned it, whatever the outcome of the operation.
    pub fn is_read(&self, (key, value): &Record) -> bool {
        self.all_reads().any(|(_, read)| (&read.key, &read.value) == (key, value))
    }

    /// ok-read: an operation that ended ok returned it.
    pub fn is_ok_read(&self, key: &Key, value: Value) -> bool {
        self.all_reads().any(|(op, read)| op.is_ok() && read.key == *key && read.value == value)
    }

    /// Certain: it ended ok; or it ended info and at least one of its records was ok-read.
    pub fn is_certain(&self, op: &Operation) -> bool {
        let mut sends = op.sends.iter();
        match op.outcome {
            EventKind::Ok => true,
            EventKind::Info => sends.any(|send| self.is_ok_read(&send.key, send.value)),
            EventKind::Fail | EventKind::Invoke => false,
        }
    }

    /// Lost: its operation is certain, it has a known offset, at or above which some ok poll of the
    /// key returned one, and no poll of any outcome returned the record.
    pub fn is_lost(&self, op: &Operation, send: &Send) -> bool {
        if !self.is_certain(op) || self.is_read(&(send.key.clone(), send.value)) {
            return false;
        }
        let mut offsets = self.offsets(&send.key, send.value).into_iter();
        offsets.any(|offset| {
            let mut ok_reads = self.all_reads().filter(|(reader, _)| reader.is_ok());
            ok_reads.any(|(_, read)| read.key == send.key && read.offset >= Some(offset))
        })
    }

    /// Every send with its operation, in order.
    pub fn all_sends(&self) -> impl Iterator<Item = (&Operation, &Send)> {
        self.operations.iter().flat_map(|op| op.sends.iter().map(move |send| (op, send)))
    }

    /// Every record that a poll returned with its operation, in order.
    pub fn all_reads(&self) -> impl Iterator<Item = (&Operation, &Read)> {
        self.operations.iter().flat_map(|op| op.reads.iter().map(move |read| (op, read)))
    }

    /// Every record that some poll returned.
    pub fn read_records(&self) -> BTreeSet<Record> {
        self.all_reads().map(|(_, read)| (read.key.clone(), read.value)).collect()
    }

    /// Every key that is sent to or read.
    pub fn keys(&self) -> BTreeSet<Key> {
        let sent = self.all_sends().map(|(_, send)| send.key.clone());
        sent.chain(self.all_reads().map(|(_, read)| read.key.clone())).collect()
    }

    /// The known offsets of a record.
    pub fn offsets(&self, key: &Key, value: Value) -> Vec<Offset> {
        let known = self.known.get(key).into_iter().flatten();
        known.filter(|(_, values)| values.contains(&value)).map(|(offset, _)| *offset).collect()
    }

    /// The record's offset known from elsewhere, if there is exactly one.
    fn only_offset(&self, key: &Key, value: Value) -> Option<Offset> {
        match self.offsets(key, value)[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Place of a read record: the offset that this very poll returned, else the only known one.
    pub fn place_of_read(&self, read: &Read) -> Option<Offset> {
        read.offset.or_else(|| self.only_offset(&read.key, read.value))
    }

    /// Place of a sent record: its own acknowledgement's offset, if its operation is certain and
    /// names one, else the only known one.
    pub fn place_of_send(&self, op: &Operation, send: &Send) -> Option<Offset> {
        let own = send.ack.filter(|_| self.is_certain(op));
        own.or_else(|| self.only_offset(&send.key, send.value))
    }

    /// The step from one known offset of a key to another: the difference of their ranks.
    pub fn step(&self, key: &Key, from: Offset, to: Offset) -> i64 {
        let rank = |at: Offset| {
            let mut offsets = self.known[key].keys();
            offsets.position(|offset| *offset == at).expect("a place is a known offset") as i64
        };
        rank(to) - rank(from)
    }

    /// Whether a poll returned any record that is known between two offsets.
    pub fn some_read_between(&self, key: &Key, from: Offset, to: Offset) -> bool {
        let between = self.known[key].iter().filter(|(offset, _)| from < **offset && **offset < to);
        let mut values = between.flat_map(|(_, values)| values);
        values.any(|value| self.is_read(&(key.clone(), *value)))
    }

    /// The places of an operation's sends to a key, in their order; those without one left out.
    pub fn send_places(&self, op: &Operation, key: &Key) -> Vec<Offset> {
        let sends = op.sends.iter().filter(|send| send.key == *key);
        sends.filter_map(|send| self.place_of_send(op, send)).collect()
    }

    /// The places of what an operation's polls returned of a key, all of them in a row.
    pub fn read_places(&self, op: &Operation, key: &Key) -> Vec<Offset> {
        let reads = op.reads.iter().filter(|read| read.key == *key);
        reads.filter_map(|read| self.place_of_read(read)).collect()
    }

    /// The operations of each process, in the order of their invocations.
    pub fn by_process(&self) -> BTreeMap<u64, Vec<&Operation>> {
        let mut by_process: BTreeMap<u64, Vec<&Operation>> = BTreeMap::new();
        for op in &self.operations {
            by_process.entry(op.process).or_default().push(op);
        }
        by_process
    }
}
