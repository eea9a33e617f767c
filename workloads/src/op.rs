//! What an operation asks for and how it ended.

use highwater_history::{
    event::{Attempt, BatchId, EpochRun, PayloadError, ReadRecord},
    types::{NodeId, Offset, Value},
};

use crate::{Key, Outcome};

/// An operation of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Append `values` to one key as one batch, in this order.
    Send {
        /// Where to.
        key: Key,
        /// Never used before under this key.
        values: Vec<Value>,
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

/// Records of one key that one poll returned, in the order of the answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeyRead {
    /// Each intact record.
    pub records: Vec<ReadRecord>,
    /// Leader epochs of what was read, as runs.
    pub epochs: Vec<EpochRun>,
    /// Records whose payload is damaged or belongs elsewhere.
    pub payload_errors: Vec<PayloadError>,
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Ok, fail or info.
    pub outcome: Outcome,
    /// The broker that gave the deciding answer.
    pub node: Option<NodeId>,
    /// The deciding code when the outcome is not ok: Kafka's name, or one of [`code`].
    pub error: Option<&'static str>,
    /// What it gave.
    pub gave: Gave,
}

/// What an operation gave beside its outcome.
#[derive(Debug, Clone, PartialEq)]
pub enum Gave {
    /// A send.
    Sent {
        /// Offset of the first record; `None` when no answer told it.
        base_offset: Option<Offset>,
        /// The identity, for an idempotent producer.
        id: Option<BatchId>,
        /// Every request made for it.
        attempts: Vec<Attempt>,
    },
    /// A poll.
    Polled {
        /// Records by key, ascending.
        reads: Vec<(Key, KeyRead)>,
        /// Keys that answered with an error code.
        errors: Vec<(Key, &'static str)>,
    },
    /// An assignment.
    Assigned,
}

/// Codes of the client's own, beside Kafka's: what no broker said.
pub mod code {
    /// The connection ended before the answer came.
    pub const CONNECTION_LOST: &str = "CONNECTION_LOST";
    /// No answer came in time.
    pub const TIMEOUT: &str = "TIMEOUT";
    /// No connection could be made: nothing left the client.
    pub const CONNECT_FAILED: &str = "CONNECT_FAILED";
    /// No leader was known in time: nothing left the client.
    pub const NO_LEADER: &str = "NO_LEADER";
    /// The session ended in doubt before this operation was sent.
    pub const SESSION_ENDED: &str = "SESSION_ENDED";
    /// The client was thrown away before the operation ended.
    pub const CLIENT_CRASHED: &str = "CLIENT_CRASHED";
    /// What a leader answers to a position that is none of its log's; Kafka's name.
    pub const OFFSET_OUT_OF_RANGE: &str = "OFFSET_OUT_OF_RANGE";
    /// The answer could not be read.
    pub const MALFORMED_ANSWER: &str = "MALFORMED_ANSWER";
}
