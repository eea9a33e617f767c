//! An event's value: its shape is decided by the event's function.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{
    Function, MicroOp, OpenClient, OpenTopic, Process,
    micro_op::{PairsIn, PairsOut},
};
use crate::types::{Key, Offset};

/// The value of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventValue {
    /// Absent or null.
    None,
    /// Micro-operations of a send, poll or transaction.
    Ops(Vec<MicroOp>),
    /// Keys of an assign or subscribe.
    Keys(Vec<Key>),
    /// Offsets of a group commit.
    Offsets(Vec<(Key, Offset)>),
    /// A client session.
    Open(Box<OpenClient>),
    /// A key.
    OpenTopic(Box<OpenTopic>),
    /// What the nemesis did, and values of functions that this version does not know.
    Other(serde_json::Value),
}

impl EventValue {
    /// Reads a value as the function of the event shapes it.
    pub(super) fn parse(
        raw: &RawValue,
        process: &Process,
        f: &Function,
    ) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        if text == "null" {
            return Ok(Self::None);
        }
        let client = matches!(process, Process::Client(_));
        match f {
            Function::Send | Function::Poll | Function::Txn if client => {
                serde_json::from_str(text).map(Self::Ops)
            }
            Function::Assign | Function::Subscribe if client => {
                serde_json::from_str(text).map(Self::Keys)
            }
            Function::Commit if client => {
                serde_json::from_str(text).map(|PairsIn(pairs)| Self::Offsets(pairs))
            }
            Function::Open => serde_json::from_str(text).map(Self::Open),
            Function::OpenTopic => serde_json::from_str(text).map(Self::OpenTopic),
            _ => serde_json::from_str(text).map(Self::Other),
        }
    }
}

impl Serialize for EventValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_unit(),
            Self::Ops(ops) => ops.serialize(serializer),
            Self::Keys(keys) => keys.serialize(serializer),
            Self::Offsets(offsets) => PairsOut(offsets).serialize(serializer),
            Self::Open(open) => open.serialize(serializer),
            Self::OpenTopic(open) => open.serialize(serializer),
            Self::Other(value) => value.serialize(serializer),
        }
    }
}
