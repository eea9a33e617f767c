//! Reads an event from one JSON object; an error names the field.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Attempt, Attempts, EpochRun, Event, EventKind, EventValue, Function, Process,
    micro_op::PairsIn, value::ValueOf,
};
use crate::unique::{TWICE, Unique};

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

/// The fields that every event must have, as far as they have been read.
#[derive(Default)]
struct Head<'de> {
    index: Option<u64>,
    time: Option<u64>,
    process: Option<Process>,
    kind: Option<EventKind>,
    f: Option<Function>,
    value: Option<EventValue>,
    /// A value that stands before what decides its shape.
    early_value: Option<&'de RawValue>,
    seek_to_beginning: Option<bool>,
}

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a history event, one JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let mut head = Head::default();
        let mut event = Event::new(0, Process::Harness, EventKind::Info, Function::Open);
        while let Some(Text(name)) = map.next_key()? {
            read_field(&mut map, &name, &mut head, &mut event)
                .map_err(|error| A::Error::custom(format_args!("field `{name}`: {error}")))?;
        }
        finish(head, event)
    }
}

fn read_field<'de, A: MapAccess<'de>>(
    map: &mut A,
    name: &str,
    head: &mut Head<'de>,
    event: &mut Event,
) -> Result<(), A::Error> {
    match name {
        "index" => once(&mut head.index, map.next_value().map(Some)?),
        "time" => once(&mut head.time, map.next_value().map(Some)?),
        "process" => once(&mut head.process, map.next_value().map(Some)?),
        "type" => once(&mut head.kind, map.next_value().map(Some)?),
        "f" => once(&mut head.f, Some(Function::from(&*map.next_value::<Text<'de>>()?.0))),
        "value" => match (&head.process, &head.f) {
            (Some(process), Some(f)) => {
                let value = map.next_value_seed(ValueOf { process, f })?;
                once(&mut head.value, Some(value))
            }
            _ => once(&mut head.early_value, map.next_value().map(Some)?),
        },
        "node" => once(&mut event.node, map.next_value()?),
        "error" => once(&mut event.error, map.next_value()?),
        "errors" => once(&mut event.errors, map.next_value()?),
        "attempts" => once(&mut event.attempts, map.next_value()?),
        "id" => once(&mut event.id, map.next_value()?),
        "leader_epochs" => {
            let runs: Option<PairsIn<Vec<EpochRun>>> = map.next_value()?;
            once(&mut event.leader_epochs, runs.map(|PairsIn(pairs)| pairs))
        }
        "payload_errors" => once(&mut event.payload_errors, map.next_value()?),
        "rebalance-log" => {
            let Unique(log) = map.next_value()?;
            let log = serde_json::from_value(log).map_err(A::Error::custom)?;
            once(&mut event.rebalance_log, log)
        }
        "seek-to-beginning?" => once(&mut head.seek_to_beginning, map.next_value()?),
        "intended" => once(&mut event.intended, map.next_value()?),
        _ if event.extra.contains_key(name) => Err(A::Error::custom(TWICE)),
        _ => {
            let Unique(value) = map.next_value()?;
            check_known::<A::Error>(name, &value)?;
            event.extra.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

/// Refuses a value of another kind than its name promises: whoever judges by it would pass over it.
fn check_known<E: Error>(name: &str, value: &serde_json::Value) -> Result<(), E> {
    let (is_it, expected) = match name {
        "generation" => (value.is_i64(), "a whole number"),
        "group" => (value.is_string(), "a string"),
        "record_keys" => (value.is_array(), "a list"),
        _ => return Ok(()),
    };
    match is_it {
        true => Ok(()),
        false => Err(E::custom(format_args!("{value}, expected {expected}"))),
    }
}

/// Keeps what a field says, unless it stood there before and said something too.
fn once<T, E: Error>(field: &mut Option<T>, said: Option<T>) -> Result<(), E> {
    if field.is_some() {
        return Err(E::custom(TWICE));
    }
    *field = said;
    Ok(())
}

fn finish<E: Error>(head: Head<'_>, mut event: Event) -> Result<Event, E> {
    let missing = |name| E::custom(format_args!("field `{name}`: missing"));
    event.index = head.index.ok_or_else(|| missing("index"))?;
    event.time = head.time.ok_or_else(|| missing("time"))?;
    event.process = head.process.ok_or_else(|| missing("process"))?;
    event.kind = head.kind.ok_or_else(|| missing("type"))?;
    event.f = head.f.ok_or_else(|| missing("f"))?;
    event.seek_to_beginning = head.seek_to_beginning.unwrap_or(false);
    if head.value.is_some() && head.early_value.is_some() {
        return Err(E::custom(format_args!("field `value`: {TWICE}")));
    }
    if let Some(value) = head.value {
        event.value = value;
    } else if let Some(raw) = head.early_value {
        let of = ValueOf { process: &event.process, f: &event.f };
        event.value = of
            .deserialize(&mut serde_json::Deserializer::from_str(raw.get()))
            .map_err(|error| E::custom(format_args!("field `value`: {error}")))?;
    }
    Ok(event)
}

/// A string, borrowed from the line where JSON allows it.
pub(super) struct Text<'de>(pub Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Process {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ProcessVisitor;
        impl Visitor<'_> for ProcessVisitor {
            type Value = Process;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a client's number or a name such as \"nemesis\"")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Process, E> {
                Ok(Process::Client(number))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Process, E> {
                Ok(match name {
                    "nemesis" => Process::Nemesis,
                    "harness" => Process::Harness,
                    other => Process::Other(other.into()),
                })
            }
        }
        deserializer.deserialize_any(ProcessVisitor)
    }
}

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(name) = Text::deserialize(deserializer)?;
        Ok(match &*name {
            "invoke" => Self::Invoke,
            "ok" => Self::Ok,
            "fail" => Self::Fail,
            "info" => Self::Info,
            other => {
                return Err(D::Error::custom(format_args!(
                    "unknown type {other:?}, expected invoke, ok, fail or info"
                )));
            }
        })
    }
}

impl<'de> Deserialize<'de> for Attempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AttemptsVisitor;
        impl<'de> Visitor<'de> for AttemptsVisitor {
            type Value = Attempts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of attempts or \"hidden\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Attempts, E> {
                match text {
                    "hidden" => Ok(Attempts::Hidden),
                    other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
                }
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Attempts, A::Error> {
                let list = serde::de::value::SeqAccessDeserializer::new(seq);
                Vec::<Attempt>::deserialize(list).map(Attempts::List)
            }
        }
        deserializer.deserialize_any(AttemptsVisitor)
    }
}
