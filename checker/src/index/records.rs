//! Records of one key: sent by whom, acknowledged where, read or not.

use highwater_history::{Offset, Value};

use super::{
    NO_OFFSET, gently,
    numbers::Numbers,
    operations::{NO_OP, OpId, Operations, Outcome},
};

/// A record's number within its key.
pub type RecordId = u32;

/// Bits of what is known of a record.
mod flag {
    pub const READ: u8 = 1;
    pub const OK_READ: u8 = 2;
    pub const READ_BY_OTHER: u8 = 4;
    pub const READ_BY_SENDER: u8 = 8;
    pub const UNACKNOWLEDGED: u8 = 16;
}

/// The records of one key, a struct of arrays.
#[derive(Debug, Default)]
pub struct Records {
    values: Numbers,
    senders: Vec<OpId>,
    readers: Vec<OpId>,
    outcomes: Vec<Outcome>,
    acks: Vec<Offset>,
    flags: Vec<u8>,
}

impl Records {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every record's number.
    pub fn ids(&self) -> impl Iterator<Item = RecordId> + use<> {
        0..self.values.len() as RecordId
    }

    /// The record of a value, if the history names it.
    pub fn find(&self, value: Value) -> Option<RecordId> {
        self.values.get(value)
    }

    /// The record of a value, which is added when nothing named it before.
    pub fn intern(&mut self, value: Value) -> RecordId {
        let (record, new) = self.values.intern(value);
        if new {
            gently::push(&mut self.senders, NO_OP);
            gently::push(&mut self.readers, NO_OP);
            gently::push(&mut self.outcomes, Outcome::Info);
            gently::push(&mut self.acks, NO_OFFSET);
            gently::push(&mut self.flags, 0);
        }
        record
    }

    /// Gives back what was taken for records that did not come.
    pub fn shrink(&mut self) {
        self.values.shrink();
        self.senders.shrink_to_fit();
        self.readers.shrink_to_fit();
        self.outcomes.shrink_to_fit();
        self.acks.shrink_to_fit();
        self.flags.shrink_to_fit();
    }

    /// Notes that an operation asked to send a value; none when it was sent before.
    pub fn send(&mut self, value: Value, op: OpId) -> Option<RecordId> {
        let record = self.intern(value);
        let sender = &mut self.senders[record as usize];
        if *sender != NO_OP {
            return None;
        }
        *sender = op;
        Some(record)
    }

    /// Notes how a send ended.
    pub fn complete(&mut self, record: RecordId, outcome: Outcome, ack: Option<Offset>) {
        self.outcomes[record as usize] = outcome;
        self.acks[record as usize] = ack.unwrap_or(NO_OFFSET);
    }

    /// Notes that a send ended ok without anybody having acknowledged it (acks=0).
    pub fn mark_unacknowledged(&mut self, record: RecordId) {
        self.flags[record as usize] |= flag::UNACKNOWLEDGED;
    }

    /// Notes that an operation read a record.
    pub fn note_read(&mut self, record: RecordId, op: OpId, outcome: Outcome) {
        self.note_reads(record, 1, op, outcome);
    }

    /// Notes that an operation read records whose numbers follow each other.
    pub fn note_reads(&mut self, first: RecordId, many: usize, op: OpId, outcome: Outcome) {
        let ok = if outcome == Outcome::Ok { flag::OK_READ } else { 0 };
        let range = first as usize..first as usize + many;
        let senders = self.senders[range.clone()].iter();
        let readers = self.readers[range.clone()].iter_mut();
        for ((sender, reader), flags) in senders.zip(readers).zip(&mut self.flags[range]) {
            let who = if *sender == op { flag::READ_BY_SENDER } else { flag::READ_BY_OTHER };
            *flags |= flag::READ | ok | who;
            if *reader == NO_OP {
                *reader = op;
            }
        }
    }

    /// How many values are, from the front on, those of records from a number on.
    pub fn same_values(&self, first: RecordId, values: &[Value]) -> usize {
        self.values.same(first, values)
    }

    /// Its value.
    pub fn value(&self, record: RecordId) -> Value {
        self.values.at(record)
    }

    /// The operation that sent it.
    pub fn sender(&self, record: RecordId) -> Option<OpId> {
        Some(self.senders[record as usize]).filter(|op| *op != NO_OP)
    }

    /// The first operation that read it.
    pub fn reader(&self, record: RecordId) -> Option<OpId> {
        Some(self.readers[record as usize]).filter(|op| *op != NO_OP)
    }

    /// How its send ended.
    pub fn outcome(&self, record: RecordId) -> Outcome {
        self.outcomes[record as usize]
    }

    /// Whether some poll returned it.
    pub fn is_read(&self, record: RecordId) -> bool {
        self.has(record, flag::READ)
    }

    /// Whether an ok poll returned it.
    pub fn is_ok_read(&self, record: RecordId) -> bool {
        self.has(record, flag::OK_READ)
    }

    /// Whether an operation other than its sender read it.
    pub fn is_read_by_other(&self, record: RecordId) -> bool {
        self.has(record, flag::READ_BY_OTHER)
    }

    /// Whether the operation that sent it read it.
    pub fn is_read_by_sender(&self, record: RecordId) -> bool {
        self.has(record, flag::READ_BY_SENDER)
    }

    /// Whether it was acknowledged: its send ended ok, and somebody said so.
    pub fn is_acknowledged(&self, record: RecordId) -> bool {
        self.sender(record).is_some()
            && self.outcome(record) == Outcome::Ok
            && !self.has(record, flag::UNACKNOWLEDGED)
    }

    /// Whether its send is certain: it ended ok, or its operation ended info and one of the
    /// operation's records was ok-read.
    pub fn is_certain(&self, record: RecordId, ops: &Operations) -> bool {
        let Some(sender) = self.sender(record) else { return false };
        // Operations of one key are far apart in memory: they are asked last.
        match self.outcome(record) {
            Outcome::Fail => false,
            Outcome::Ok => !self.has(record, flag::UNACKNOWLEDGED),
            Outcome::Info => match ops.get(sender) {
                operation if operation.outcome == Outcome::Info => operation.some_ok_read,
                _ => self.is_ok_read(record),
            },
        }
    }

    /// The offset of its acknowledgement, when its send is certain and names one.
    pub fn ack(&self, record: RecordId, ops: &Operations) -> Option<Offset> {
        let ack = self.acks[record as usize];
        (ack != NO_OFFSET && self.is_certain(record, ops)).then_some(ack)
    }

    fn has(&self, record: RecordId, bit: u8) -> bool {
        self.flags[record as usize] & bit != 0
    }
}
