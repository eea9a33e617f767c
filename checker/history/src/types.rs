//! The words that all formats share: keys, values, offsets, epochs, node ids and run time.

use std::{borrow::Borrow, fmt, ops::Deref};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// A record's value: unique within its key, dense so that it can index a vector.
pub type Value = i64;

/// A place in the log of one topic-partition.
pub type Offset = i64;

/// The highest offset that a history or dump may name; no log comes near it, and sums with it do
/// not overflow.
pub const MAX_OFFSET: Offset = 1 << 60;

/// Refuses an offset that no log has.
pub fn check_offset(offset: Offset) -> Result<Offset, String> {
    match offset {
        0..=MAX_OFFSET => Ok(offset),
        _ => Err(format!("{offset} is no offset, which lies between 0 and 2^60")),
    }
}

/// The epoch of one leadership of one topic-partition (contract rule 25).
pub type LeaderEpoch = i32;

/// The id of a broker or controller, Kafka's `node.id`.
pub type NodeId = i32;

/// Nanoseconds since the run's start on the run's one monotonic clock.
pub type TimeNs = u64;

/// The number of a client process: one operation in flight at a time.
pub type ProcessId = u64;

/// The number of a client session; its in-flight slots are processes.
pub type ClientId = u64;

/// One topic-partition by identity: a recreated topic has new keys.
///
/// The text is `NAME-PARTITION` for a run's first topic of that name, and anything unique after
/// that; what it stands for is said by the history's `open-topic` event.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(SmolStr);

impl Key {
    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The usual key of a topic-partition: `NAME-PARTITION`.
    pub fn of(topic: &str, partition: i32) -> Self {
        Self(smol_str::format_smolstr!("{topic}-{partition}"))
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<SmolStr> for Key {
    fn from(text: SmolStr) -> Self {
        Self(text)
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0.as_str(), f)
    }
}
