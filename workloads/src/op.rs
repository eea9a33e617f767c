//! What an operation asks for and how it ended.

use crate::{Key, Outcome, Time};

/// An operation of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Append `values` to one key as one batch, in this order.
    Send {
        /// Where to.
        key: Key,
        /// Never used before under this key.
        values: Vec<u64>,
    },
    /// Read once from wherever the assignment is.
    Poll,
    /// Replace the set of keys that polls read.
    Assign {
        /// The new set.
        keys: Vec<Key>,
        /// Start over at each key's beginning; otherwise a kept key keeps its position.
        seek_to_beginning: bool,
    },
}

/// One request of a batch identity and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The broker it went to.
    pub node: i32,
    /// When its bytes were handed over.
    pub at: Time,
    /// When the answer, or the loss, was known.
    pub until: Time,
    /// Kafka's code, or a word of the client's own in upper case (`CONNECTION_LOST`, ...).
    pub code: &'static str,
    /// What the attempt alone says.
    pub outcome: Outcome,
}

/// The identity by which brokers recognise a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchId {
    /// Producer id.
    pub producer_id: i64,
    /// Producer epoch.
    pub epoch: i16,
    /// Sequence number of the first record.
    pub sequence: i32,
}

/// Records of one key that one poll returned, in the order of the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRead {
    /// Offset and value of each intact record.
    pub records: Vec<(i64, u64)>,
    /// Leader epochs as runs: the first offset of each run and its epoch.
    pub epochs: Vec<(i64, i32)>,
    /// Records whose payload is damaged or belongs elsewhere: offset and what is wrong.
    pub strange: Vec<(i64, crate::value::Strange)>,
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Ok, fail or info.
    pub outcome: Outcome,
    /// The broker that gave the deciding answer.
    pub node: Option<i32>,
    /// The deciding code when the outcome is not ok.
    pub error: Option<&'static str>,
    /// What it gave.
    pub result: Yield,
}

/// What an operation gave beside its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Yield {
    /// A send.
    Sent {
        /// Offset of the first record; `None` when unknown (acks=0, not ok, duplicate without offset).
        base_offset: Option<i64>,
        /// The identity, for an idempotent producer.
        id: Option<BatchId>,
        /// Every request made for it.
        attempts: Vec<Attempt>,
    },
    /// A poll: what each key gave, and the keys that answered with an error.
    Polled {
        /// Records by key, ascending.
        reads: Vec<(Key, KeyRead)>,
        /// Keys that answered with an error code.
        errors: Vec<(Key, &'static str)>,
    },
    /// An assignment.
    Assigned,
}
