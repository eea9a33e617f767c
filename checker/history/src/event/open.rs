//! What `open` and `open-topic` events say: client sessions with their settings, keys.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::types::{ClientId, Key, ProcessId};

/// A client session: value of an `open` event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenClient {
    /// Number of the session, unique in the run.
    pub client: ClientId,
    /// Producer or consumer.
    pub kind: ClientKind,
    /// Its in-flight slots.
    pub processes: Vec<ProcessId>,
    /// Producers: how many replicas must have a record before it is acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acks: Option<Acks>,
    /// Producers: whether repeats are recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotence: Option<bool>,
    /// Producers: whether one operation may be more than one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<bool>,
    /// Producers: the id that the cluster gave, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer_id: Option<i64>,
    /// Producers: the epoch of that id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer_epoch: Option<i16>,
    /// Consumers: what they may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// Consumers: their group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What it is for: `workload` or `final-read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Settings that this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}

/// A key and what it stands for: value of an `open-topic` event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenTopic {
    /// The key.
    pub key: Key,
    /// Topic name; the manifest's promises are looked up by it.
    pub topic: String,
    /// Topic id as the cluster gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<String>,
    /// Partition number.
    pub partition: i32,
    /// What else was said.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}

/// What a client session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientKind {
    /// Sends.
    Producer,
    /// Polls.
    Consumer,
    /// Does both, as a transactional client does.
    Both,
}

/// Kafka's `acks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Acks {
    /// No answer at all.
    #[serde(rename = "0")]
    Zero,
    /// The leader's own log.
    #[serde(rename = "1")]
    One,
    /// Every in-sync replica.
    #[serde(rename = "all", alias = "-1")]
    All,
}

impl Acks {
    /// Kafka's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Zero => "0",
            Self::One => "1",
            Self::All => "all",
        }
    }
}

/// Kafka's `isolation.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Committed transactions and plain records.
    ReadCommitted,
    /// Everything below the high watermark.
    ReadUncommitted,
}
