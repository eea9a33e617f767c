//! The history as claims see it: operations, and per key records, reads and known offsets.
//!
//! [`Builder`] observes events in order and checks what judging assumes; [`Index`] is what it
//! leaves. One file an index: [`operations`], [`records`] (what was sent, acknowledged and read),
//! [`reads`] (what each poll returned, in order), [`order`] (known offsets and their ranks),
//! [`processes`] (clients and assignments), [`groups`] (commits).

mod builder;
mod digest;
mod foreign;
mod gently;
pub mod groups;
mod log;
mod numbers;
pub mod operations;
pub mod order;
pub mod processes;
pub mod reads;
pub mod records;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Event, Key, Offset, TimeNs, Value, columns,
    event::{OpenTopic, PayloadError},
    verdict::Counts,
};

pub use builder::{Builder, Unfit};
pub use digest::Digest;
pub use groups::{Group, GroupCommit, GroupFetch};
use operations::{OpId, Operations, Outcome};
use order::Order;
use processes::Processes;
use reads::Reads;
use records::{RecordId, Records};

use crate::part::Part;

/// Stands for no offset.
const NO_OFFSET: Offset = Offset::MIN;

/// A key's number within the index.
pub type KeyId = u32;

/// Everything that the history says, indexed.
#[derive(Debug, Default)]
pub struct Index {
    /// Client operations.
    pub ops: Operations,
    /// One entry a key, in the order in which the history names them.
    pub keys: Vec<KeyIndex>,
    /// Keys by name.
    pub ids: BTreeMap<Key, KeyId>,
    /// Client processes and sessions.
    pub processes: Processes,
    /// Events of the nemesis and of anybody else who is no client.
    pub others: Vec<Event>,
    /// The part of the history whose keys have their evidence here.
    pub part: Part,
    /// What tells this history from another.
    pub digest: Digest,
    /// Consumer groups by name.
    pub groups: Vec<Group>,
    /// Whether anybody was told where a log ends.
    pub ends_told: bool,
    /// Records that were sent with keys of their own: that key, and the record.
    pub record_keys: Vec<(String, KeyId, RecordId)>,
    /// The highest epoch of each producer id that some operation's identity shows.
    pub newest_epochs: BTreeMap<i64, i16>,
    /// Operations of a kind that nothing here knows, by name.
    pub unknown_operations: BTreeMap<String, u64>,
    /// The first gap in the events' indexes: what was next, and what came. Only a history without a
    /// manifest has one and is judged.
    pub gap: Option<(u64, u64)>,
    /// What whoever wrote the history says of its gaps; the first of them.
    pub notes: Vec<String>,
    /// The time of the last event.
    pub ended_at: TimeNs,
    /// What the history holds.
    pub counts: Counts,
    /// Records that an ok poll returned.
    pub ok_read: u64,
}

impl Index {
    /// Whether any operation is a transaction.
    pub fn has_transactions(&self) -> bool {
        self.ops.has_transactions()
    }

    /// Whether an operation belongs to the read of everything at the end of the run.
    pub fn is_final_read(&self, op: OpId) -> bool {
        let client = self.processes.client(self.ops.get(op).process);
        client.and_then(|client| client.role.as_deref()) == Some("final-read")
    }
}

/// One key: a topic-partition.
#[derive(Debug, Default)]
pub struct KeyIndex {
    /// Its name.
    pub key: Key,
    /// What it stands for, when the history says so.
    pub topic: Option<OpenTopic>,
    /// Records that were sent or read.
    pub records: Records,
    /// Sent records in the order of their invocations; those of one operation are neighbours.
    pub sends: Vec<RecordId>,
    /// What polls returned.
    pub reads: Reads,
    /// Known offsets and their ranks.
    pub order: Order,
    /// Where its log ended for a reader, and the operation that was told so, in the order in which
    /// these ended.
    pub ends: Vec<(OpId, Offset)>,
    /// Payloads that were not what they should be, and the operation that read them.
    pub payload_errors: Vec<(OpId, PayloadError)>,
    /// Sends whose attempts or errors rules 41 to 46 look at.
    pub tried: Vec<Tried>,
    /// Values that operations name as sends do, of which nothing here knows what they are.
    pub maybe_sent: BTreeSet<Value>,
}

/// A send that took several attempts or was refused for its identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Its attempts.
    pub attempts: Vec<highwater_history::event::Attempt>,
    /// Its identity.
    pub id: highwater_history::event::BatchId,
    /// The first record that it sent.
    pub record: RecordId,
}

impl KeyIndex {
    /// Notes that an operation asked to send a value; none when it was sent before.
    fn send(&mut self, value: Value, op: OpId) -> Option<RecordId> {
        let record = self.records.send(value, op)?;
        gently::push(&mut self.sends, record);
        Some(record)
    }

    /// Notes what an operation read, as far as it is from the front on what was named at the same
    /// offsets before, by records whose numbers follow each other; says how many these are.
    fn read_known(&mut self, op: OpId, outcome: Outcome, read: columns::Reads<'_>) -> usize {
        let Self { records, reads, .. } = self;
        let Some((Some(from), _)) = read.iter().next() else { return 0 };
        let named = reads.named_from(from);
        let Some(first) = named.first().copied().filter(|first| *first != log::NONE) else {
            return 0;
        };
        let rising = &named[..named.len().min(read.rising())];
        let in_row = rising.iter().zip(first..).take_while(|(named, next)| *named == next).count();
        let known = records.same_values(first, &read.values()[..in_row]);
        if known > 0 {
            records.note_reads(first, known, op, outcome);
            reads.push_named(op, from, known as u32);
        }
        known
    }

    /// Notes a record that an operation read.
    fn read(&mut self, op: OpId, outcome: Outcome, offset: Option<Offset>, value: Value) {
        let record = self.records.intern(value);
        self.records.note_read(record, op, outcome);
        self.reads.push(op, offset, record);
    }

    /// Gives back what was taken for what did not come.
    fn shrink(&mut self) {
        self.records.shrink();
        self.sends.shrink_to_fit();
        self.reads.shrink();
    }

    /// The topic's name: as the history says, else the key without its partition.
    pub fn topic_name(&self) -> &str {
        match &self.topic {
            Some(topic) => &topic.topic,
            None => self.key.rsplit_once('-').map_or(self.key.as_str(), |(name, _)| name),
        }
    }

    /// The partition's number, where history or key name it.
    pub fn partition(&self) -> Option<i32> {
        match &self.topic {
            Some(topic) => Some(topic.partition),
            None => self.key.rsplit_once('-').and_then(|(_, number)| number.parse().ok()),
        }
    }
}

/// Whether an answer refuses a batch for its identity (rules 41, 42).
fn is_identity_refusal(code: &str) -> bool {
    matches!(code, "OUT_OF_ORDER_SEQUENCE_NUMBER" | "INVALID_PRODUCER_EPOCH")
}
