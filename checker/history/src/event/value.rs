//! An event's value: its shape is decided by the event's function.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        DeserializeSeed, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};

use super::{
    Function, MicroOp, OpenClient, OpenTopic, Process,
    micro_op::{PairsIn, PairsOut},
};
use crate::{
    types::{Key, Offset},
    unique::unique,
};

/// The value of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventValue {
    /// Absent or null.
    None,
    /// Micro-operations of a send, poll or transaction.
    Ops(Vec<MicroOp>),
    /// Keys of an assign or subscribe, or those whose offsets are asked for.
    Keys(Vec<Key>),
    /// Offsets that a group commits or has committed, or at which logs end.
    Offsets(Vec<(Key, Offset)>),
    /// A client session.
    Open(Box<OpenClient>),
    /// A key.
    OpenTopic(Box<OpenTopic>),
    /// What the nemesis did, and values of functions that this version does not know.
    Other(serde_json::Value),
}

/// Reads a value as the function of its event shapes it.
pub(crate) struct ValueOf<'a> {
    pub process: &'a Process,
    pub f: &'a Function,
}

impl<'de> DeserializeSeed<'de> for ValueOf<'_> {
    type Value = EventValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<EventValue, D::Error> {
        let client = matches!(self.process, Process::Client(_));
        let value = match self.f {
            Function::Send | Function::Poll | Function::Txn if client => {
                Option::deserialize(deserializer)?.map(EventValue::Ops)
            }
            Function::Assign | Function::Subscribe if client => {
                Option::deserialize(deserializer)?.map(EventValue::Keys)
            }
            Function::Commit if client => {
                let pairs: Option<PairsIn<Offset>> = Option::deserialize(deserializer)?;
                pairs.map(|PairsIn(pairs)| EventValue::Offsets(pairs))
            }
            Function::Committed | Function::EndOffsets if client => {
                Option::<KeysOrOffsets>::deserialize(deserializer)?.map(|KeysOrOffsets(said)| said)
            }
            Function::Open => unique::<Option<_>, D>(deserializer)?.map(EventValue::Open),
            Function::OpenTopic => unique::<Option<_>, D>(deserializer)?.map(EventValue::OpenTopic),
            _ => unique::<Option<_>, D>(deserializer)?.map(EventValue::Other),
        };
        Ok(value.unwrap_or(EventValue::None))
    }
}

/// What is asked for, a list of keys, or what was answered, an object from key to offset.
struct KeysOrOffsets(EventValue);

impl<'de> Deserialize<'de> for KeysOrOffsets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = KeysOrOffsets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of keys or an object from key to offset")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<KeysOrOffsets, A::Error> {
                let keys = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(KeysOrOffsets(EventValue::Keys(keys)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<KeysOrOffsets, A::Error> {
                let PairsIn(pairs) =
                    PairsIn::<Offset>::deserialize(MapAccessDeserializer::new(map))?;
                Ok(KeysOrOffsets(EventValue::Offsets(pairs)))
            }
        }
        deserializer.deserialize_any(Either)
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
