//! A glance at an event: the few fields that charts need, read without building the rest.
//!
//! A run of a million operations has two million lines; parsing them whole takes longer than the
//! whole report may.

use std::{borrow::Cow, fmt};

use highwater_history::{
    TimeNs,
    event::{EventKind, Process},
};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// What is read of every event; other fields are skipped.
pub(crate) struct Glance<'a> {
    pub index: u64,
    pub time: TimeNs,
    pub process: Process,
    pub kind: EventKind,
    pub f: Cow<'a, str>,
    /// What a send, poll or transaction amounts to; of other events nothing.
    pub ops: Ops<'a>,
    /// The value's text of other events; its shape depends on `f`.
    pub value: Option<&'a RawValue>,
    pub intended: Option<TimeNs>,
}

/// What the micro-operations of a client's event amount to.
#[derive(Default)]
pub(crate) struct Ops<'a> {
    /// Sends whose value stands with an offset, known or null.
    pub acknowledged: u64,
    /// Records that polls returned.
    pub read: u64,
    /// Keys sent to, and keys that records were read from.
    pub keys: Vec<Cow<'a, str>>,
}

/// A field of an event.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Index,
    Time,
    Process,
    Type,
    F,
    Value,
    Intended,
    #[serde(other)]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Glance<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(GlanceVisitor)
    }
}

struct GlanceVisitor;

impl<'de> Visitor<'de> for GlanceVisitor {
    type Value = Glance<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    /// The value is read in passing where `process` and `f` stand before it, as the recorder writes
    /// them: a second look at it is what takes most of the time.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Glance<'de>, A::Error> {
        let (mut index, mut time, mut process, mut kind) = (None, None, None, None);
        let (mut f, mut ops, mut value, mut intended) = (None, None, None, None);
        while let Some(field) = map.next_key()? {
            match field {
                Field::Index => index = Some(map.next_value()?),
                Field::Time => time = Some(map.next_value()?),
                Field::Process => process = Some(map.next_value()?),
                Field::Type => kind = Some(map.next_value()?),
                Field::F => f = Some(map.next_value::<Text<'de>>()?.0),
                Field::Value if operates(process.as_ref(), f.as_deref()) => {
                    ops = Some(map.next_value::<Option<Ops<'de>>>()?.unwrap_or_default());
                }
                Field::Value => value = map.next_value::<Option<&RawValue>>()?,
                Field::Intended => intended = map.next_value()?,
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(value) = value.filter(|_| operates(process.as_ref(), f.as_deref())) {
            ops = serde_json::from_str(value.get()).map_err(A::Error::custom)?;
        }
        Ok(Glance {
            index: index.ok_or_else(|| A::Error::missing_field("index"))?,
            time: time.ok_or_else(|| A::Error::missing_field("time"))?,
            process: process.ok_or_else(|| A::Error::missing_field("process"))?,
            kind: kind.ok_or_else(|| A::Error::missing_field("type"))?,
            f: f.ok_or_else(|| A::Error::missing_field("f"))?,
            ops: ops.unwrap_or_default(),
            value,
            intended,
        })
    }
}

/// Whether the value is a list of micro-operations.
fn operates(process: Option<&Process>, f: Option<&str>) -> bool {
    matches!(process, Some(Process::Client(_))) && matches!(f, Some("send" | "poll" | "txn"))
}

impl<'de: 'a, 'a> Deserialize<'de> for Ops<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(OpsVisitor)
    }
}

struct OpsVisitor;

impl<'de> Visitor<'de> for OpsVisitor {
    type Value = Ops<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of micro-operations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Ops<'de>, A::Error> {
        let mut ops = Ops::default();
        while let Some(op) = seq.next_element()? {
            match op {
                Op::Send { key, acknowledged } => {
                    ops.acknowledged += u64::from(acknowledged);
                    ops.keys.push(key);
                }
                Op::Poll(Reads { read, keys }) => {
                    ops.read += read;
                    ops.keys.extend(keys);
                }
            }
        }
        Ok(ops)
    }
}

enum Op<'a> {
    Send { key: Cow<'a, str>, acknowledged: bool },
    Poll(Reads<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Op<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OpVisitor;
        impl<'de> Visitor<'de> for OpVisitor {
            type Value = Op<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a micro-operation such as [\"send\", key, value] or [\"poll\"]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Op<'de>, A::Error> {
                let lacks = |what| A::Error::custom(format_args!("a micro-operation lacks {what}"));
                let name: &str = seq.next_element()?.ok_or_else(|| lacks("its name"))?;
                match name {
                    "send" => {
                        let Text(key) = seq.next_element()?.ok_or_else(|| lacks("its key"))?;
                        let Sent(acknowledged) =
                            seq.next_element()?.ok_or_else(|| lacks("its value"))?;
                        Ok(Op::Send { key, acknowledged })
                    }
                    _ => Ok(Op::Poll(seq.next_element()?.unwrap_or_default())),
                }
            }
        }
        deserializer.deserialize_seq(OpVisitor)
    }
}

/// Whether the last element of a send is `[offset, value]` rather than a bare value.
struct Sent(bool);

impl<'de> Deserialize<'de> for Sent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SentVisitor;
        impl<'de> Visitor<'de> for SentVisitor {
            type Value = Sent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or [offset, value]")
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Sent, E> {
                Ok(Sent(false))
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Sent, E> {
                Ok(Sent(false))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Sent, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Sent(true))
            }
        }
        deserializer.deserialize_any(SentVisitor)
    }
}

/// The map of a poll: how many records, of which keys.
#[derive(Default)]
struct Reads<'a> {
    read: u64,
    keys: Vec<Cow<'a, str>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Reads<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ReadsVisitor;
        impl<'de> Visitor<'de> for ReadsVisitor {
            type Value = Reads<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from key to records")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reads<'de>, A::Error> {
                let mut reads = Reads::default();
                while let Some((Text(key), Length(records))) = map.next_entry()? {
                    reads.read += records;
                    if records > 0 {
                        reads.keys.push(key);
                    }
                }
                Ok(reads)
            }
        }
        deserializer.deserialize_map(ReadsVisitor)
    }
}

/// The length of a list.
struct Length(u64);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LengthVisitor;
        impl<'de> Visitor<'de> for LengthVisitor {
            type Value = Length;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Length, A::Error> {
                let mut length = 0;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    length += 1;
                }
                Ok(Length(length))
            }
        }
        deserializer.deserialize_seq(LengthVisitor)
    }
}

/// A string, borrowed from the line where JSON allows it.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
