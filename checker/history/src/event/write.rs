//! Writes an event as one JSON object, absent fields left out.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Attempts, Event, EventKind, EventValue, Function, Process, micro_op::PairsOut};

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("time", &self.time)?;
        map.serialize_entry("process", &self.process)?;
        map.serialize_entry("type", self.kind.as_str())?;
        map.serialize_entry("f", self.f.as_str())?;
        if self.value != EventValue::None {
            map.serialize_entry("value", &self.value)?;
        }
        optional(&mut map, "node", &self.node)?;
        optional(&mut map, "error", &self.error)?;
        optional(&mut map, "errors", &self.errors)?;
        optional(&mut map, "attempts", &self.attempts)?;
        optional(&mut map, "id", &self.id)?;
        optional(&mut map, "leader_epochs", &self.leader_epochs.as_deref().map(PairsOut))?;
        optional(&mut map, "payload_errors", &self.payload_errors)?;
        optional(&mut map, "rebalance-log", &self.rebalance_log)?;
        if self.seek_to_beginning {
            map.serialize_entry("seek-to-beginning?", &true)?;
        }
        optional(&mut map, "intended", &self.intended)?;
        for (name, value) in &self.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: &Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

impl Serialize for Process {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Client(number) => serializer.serialize_u64(*number),
            Self::Nemesis => serializer.serialize_str("nemesis"),
            Self::Harness => serializer.serialize_str("harness"),
            Self::Other(name) => serializer.serialize_str(name),
        }
    }
}

impl Serialize for Attempts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hidden => serializer.serialize_str("hidden"),
            Self::List(attempts) => attempts.serialize(serializer),
        }
    }
}

impl EventKind {
    /// The `type` field.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invoke => "invoke",
            Self::Ok => "ok",
            Self::Fail => "fail",
            Self::Info => "info",
        }
    }
}

impl Function {
    /// The `f` field.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Send => "send",
            Self::Poll => "poll",
            Self::Txn => "txn",
            Self::Assign => "assign",
            Self::Subscribe => "subscribe",
            Self::Commit => "commit",
            Self::Committed => "committed",
            Self::EndOffsets => "end-offsets",
            Self::Crash => "crash",
            Self::Open => "open",
            Self::OpenTopic => "open-topic",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Function {
    fn from(name: &str) -> Self {
        match name {
            "send" => Self::Send,
            "poll" => Self::Poll,
            "txn" => Self::Txn,
            "assign" => Self::Assign,
            "subscribe" => Self::Subscribe,
            "commit" => Self::Commit,
            "committed" => Self::Committed,
            "end-offsets" => Self::EndOffsets,
            "crash" => Self::Crash,
            "open" => Self::Open,
            "open-topic" => Self::OpenTopic,
            other => Self::Other(other.into()),
        }
    }
}
