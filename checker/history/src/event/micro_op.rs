//! Micro-operations: the sends and polls that a client operation is made of.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, SeqAccess, Visitor},
    ser::SerializeSeq,
};

use super::read::Text;
use crate::{
    types::{Key, Offset, Value, check_offset},
    unique::twice,
};

/// One send or poll.
#[derive(Clone, Debug, PartialEq)]
pub enum MicroOp {
    /// `["send", key, value]`, or once acknowledged `["send", key, [offset, value]]`.
    Send {
        /// The topic-partition.
        key: Key,
        /// The record.
        value: Value,
        /// What the broker said of its place.
        ack: Ack,
    },
    /// `["poll"]`, or once answered `["poll", {key: [[offset, value], ...]}]`.
    Poll {
        /// What was read, per key in the order of the answer; `None` in an invocation.
        records: Option<Vec<(Key, Vec<ReadRecord>)>>,
    },
}

/// What the answer to a send said of the record's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// No answer stands here: the value is written bare.
    None,
    /// Acknowledged at an offset that was not told (acks=0 too).
    Unknown,
    /// Acknowledged at this offset.
    At(Offset),
}

impl Ack {
    /// The offset, where one was told.
    pub fn offset(self) -> Option<Offset> {
        match self {
            Self::At(offset) => Some(offset),
            Self::None | Self::Unknown => None,
        }
    }
}

/// A record that a poll returned, written as `[offset, value]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "[offset, value]")]
pub struct ReadRecord(#[serde(deserialize_with = "told_offset")] pub Option<Offset>, pub Value);

/// An offset of some log, or none.
fn told_offset<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Offset>, D::Error> {
    let told = Option::<Offset>::deserialize(deserializer)?;
    told.map(check_offset).transpose().map_err(serde::de::Error::custom)
}

/// The same as the element of a sequence.
#[derive(Deserialize)]
struct ToldOffset(#[serde(deserialize_with = "told_offset")] Option<Offset>);

impl Serialize for MicroOp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Send { key, value, ack: Ack::None } => ("send", key, value).serialize(serializer),
            Self::Send { key, value, ack } => {
                ("send", key, (ack.offset(), value)).serialize(serializer)
            }
            Self::Poll { records: None } => ("poll",).serialize(serializer),
            Self::Poll { records: Some(records) } => {
                let mut seq = serializer.serialize_seq(Some(2))?;
                seq.serialize_element("poll")?;
                seq.serialize_element(&PairsOut(records))?;
                seq.end()
            }
        }
    }
}

/// A list of pairs written as a JSON object, order kept.
pub(super) struct PairsOut<'a, V>(pub &'a [(Key, V)]);

impl<V: Serialize> Serialize for PairsOut<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// So many keys are compared with each other.
const FEW_PAIRS: usize = 32;

/// A JSON object read as a list of pairs, order kept.
pub(super) struct PairsIn<V>(pub Vec<(Key, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for PairsIn<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Pairs<V> {
            type Value = PairsIn<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from key to list")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<PairsIn<V>, A::Error> {
                let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(1));
                let mut seen = BTreeSet::new();
                while let Some(key) = map.next_key::<Key>()? {
                    // Few are looked through fastest, and nearly always there are few.
                    let is_new = match pairs.len() {
                        ..FEW_PAIRS => pairs.iter().all(|(other, _)| *other != key),
                        FEW_PAIRS => {
                            seen = pairs.iter().map(|(key, _): &(Key, V)| key.clone()).collect();
                            seen.insert(key.clone())
                        }
                        _ => seen.insert(key.clone()),
                    };
                    if !is_new {
                        return Err(twice(&key));
                    }
                    pairs.push((key, map.next_value()?));
                }
                Ok(PairsIn(pairs))
            }
        }
        deserializer.deserialize_map(Pairs(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for MicroOp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(MicroOpVisitor)
    }
}

struct MicroOpVisitor;

impl<'de> Visitor<'de> for MicroOpVisitor {
    type Value = MicroOp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a micro-operation such as ["send", key, value] or ["poll"]"#)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<MicroOp, A::Error> {
        use serde::de::Error;
        let missing = |what| A::Error::custom(format_args!("a micro-operation lacks its {what}"));
        let Text(name) = seq.next_element()?.ok_or_else(|| missing("name"))?;
        let op = match &*name {
            "send" => {
                let key = seq.next_element()?.ok_or_else(|| missing("key"))?;
                let Sent(value, ack) = seq.next_element()?.ok_or_else(|| missing("value"))?;
                MicroOp::Send { key, value, ack }
            }
            "poll" => {
                let records: Option<PairsIn<Vec<ReadRecord>>> = seq.next_element()?;
                MicroOp::Poll { records: records.map(|PairsIn(pairs)| pairs) }
            }
            other => {
                return Err(A::Error::custom(format_args!(
                    "unknown micro-operation {other:?}, expected \"send\" or \"poll\""
                )));
            }
        };
        if seq.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::custom("a micro-operation has too many elements"));
        }
        Ok(op)
    }
}

/// The last element of a send: a bare value or `[offset, value]`.
struct Sent(Value, Ack);

impl<'de> Deserialize<'de> for Sent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SentVisitor)
    }
}

struct SentVisitor;

impl<'de> Visitor<'de> for SentVisitor {
    type Value = Sent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or [offset, value]")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Sent, E> {
        Ok(Sent(value, Ack::None))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Sent, E> {
        let value = i64::try_from(value).map_err(|_| E::custom("the value is above 2^63"))?;
        Ok(Sent(value, Ack::None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Sent, A::Error> {
        use serde::de::Error;
        let ToldOffset(offset) =
            seq.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let value = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        if seq.next_element::<IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(3, &self));
        }
        Ok(Sent(value, offset.map_or(Ack::Unknown, Ack::At)))
    }
}
