//! What may stand beside an event's value: errors, attempts, identity, epochs, damaged payloads.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::{
    types::{Key, LeaderEpoch, NodeId, Offset, TimeNs, Value},
    unique::Unique,
};

/// Why an operation, a micro-operation or an attempt did not end well.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventError {
    /// Kafka's name of the error, or ours for what no broker said (`TIMEOUT`, `CONNECTION_LOST`).
    pub code: String,
    /// For one micro-operation: `fail` when it surely did not happen; else it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// What else was said.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}

impl EventError {
    /// An error that is only a code.
    pub fn code(code: impl Into<String>) -> Self {
        Self { code: code.into(), outcome: None, extra: Map::new() }
    }

    /// Whether a micro-operation with this error surely did not happen.
    pub fn is_definite(&self) -> bool {
        self.outcome.as_deref() == Some("fail")
    }
}

impl<'de> Deserialize<'de> for EventError {
    /// Takes an object with a `code`, or any other JSON as a code of its own.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Full {
            code: String,
            outcome: Option<String>,
            #[serde(flatten)]
            extra: Map<String, serde_json::Value>,
        }
        let Unique(raw) = Unique::deserialize(deserializer)?;
        if let Ok(Full { code, outcome, extra }) = Full::deserialize(&raw) {
            return Ok(Self { code, outcome, extra });
        }
        Ok(Self::code(raw.as_str().map_or_else(|| raw.to_string(), str::to_owned)))
    }
}

/// The requests behind one completion.
#[derive(Clone, Debug, PartialEq)]
pub enum Attempts {
    /// The client retries inside: a definite error of its last attempt says nothing (rule 40).
    Hidden,
    /// Every request, in order.
    List(Vec<Attempt>),
}

/// One request with the operation's identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The broker asked.
    pub node: NodeId,
    /// When its first byte was to leave, nanoseconds of the run.
    pub at: TimeNs,
    /// How long until the answer or the verdict that none comes, nanoseconds.
    pub took: TimeNs,
    /// Kafka's name of the answer (`NONE` for success), or ours (`TIMEOUT`, `CONNECTION_LOST`).
    pub code: String,
}

/// The identity of a batch: what makes a repeat a repeat (rule 42).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BatchId {
    /// Producer id, -1 without idempotence.
    pub producer_id: i64,
    /// Producer epoch.
    pub producer_epoch: i16,
    /// Sequence of the batch's first record.
    pub sequence: i32,
}

/// Records from `first_offset` on, up to the next run, were appended under `epoch`.
///
/// Written as the pair `[first_offset, epoch]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "[first offset, leader epoch]")]
pub struct EpochRun(pub Offset, pub LeaderEpoch);

/// A record whose payload was not what its place says (evidence D19).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PayloadError {
    /// The key that was polled.
    pub key: Key,
    /// Where the record stood.
    pub offset: Offset,
    /// What is wrong.
    pub fault: PayloadFault,
    /// The value that the payload claims, when it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The key that the payload claims, when it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_key: Option<Key>,
    /// One sentence for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What is wrong with a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadFault {
    /// Length or checksum do not fit.
    Corrupt,
    /// Whole, but made for another key or another run.
    Misplaced,
}

/// Keys that changed hands at one moment of a rebalance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rebalance {
    /// The keys given or taken.
    pub keys: Vec<Key>,
    /// What else was said.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}
