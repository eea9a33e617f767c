//! Keys and micro-operations as Jepsen's Kafka workload shapes them.

use std::collections::HashSet;

use smol_str::{SmolStr, format_smolstr};

use super::{parse::Edn, token::shortened};
use crate::{
    event::{Ack, MicroOp, ReadRecord},
    types::{Key, Offset, Value, check_offset},
    unique::TWICE,
};

/// A name: a keyword, a string or a symbol.
pub(super) fn name(form: &Edn<'_>) -> Result<SmolStr, String> {
    match form {
        Edn::Word(name) => Ok((*name).into()),
        Edn::Text(text) => Ok(text.as_ref().into()),
        other => Err(format!("expected a keyword, not {}", shown(other))),
    }
}

/// A number of at least 0.
pub(super) fn count(form: &Edn<'_>) -> Result<u64, String> {
    match form {
        Edn::Int(number) if *number >= 0 => Ok(number.unsigned_abs()),
        Edn::Big(number) => Ok(*number),
        other => Err(format!("expected a whole number of at least 0, not {}", shown(other))),
    }
}

/// A key: the number N is the key t-N.
pub(super) fn key(form: &Edn<'_>) -> Result<Key, String> {
    match form {
        Edn::Int(number) if *number >= 0 => Ok(Key::from(format_smolstr!("t-{number}"))),
        Edn::Word(name) => Ok((*name).into()),
        Edn::Text(text) => Ok(text.as_ref().into()),
        other => Err(format!("expected a key, a number or a name, not {}", shown(other))),
    }
}

/// The keys of an assign or subscribe.
pub(super) fn keys(form: &Edn<'_>) -> Result<Vec<Key>, String> {
    list(form, "keys")?.iter().map(key).collect()
}

/// Micro-operations.
pub(super) fn ops(form: &Edn<'_>) -> Result<Vec<MicroOp>, String> {
    list(form, "micro-operations")?.iter().map(op).collect()
}

fn op(form: &Edn<'_>) -> Result<MicroOp, String> {
    let parts = list(form, "a micro-operation's parts")?;
    let (first, rest) = parts.split_first().ok_or("a micro-operation lacks its name")?;
    match (name(first)?.as_str(), rest) {
        ("send", [to, sent]) => {
            let key = key(to)?;
            let (value, ack) = sent_value(sent)?;
            Ok(MicroOp::Send { key, value, ack })
        }
        ("poll", [] | [Edn::Nil]) => Ok(MicroOp::Poll { records: None }),
        ("poll", [read]) => Ok(MicroOp::Poll { records: Some(pairs(read, records)?) }),
        ("send" | "poll", _) => Err("a micro-operation is [:send key value], [:send key [offset \
             value]], [:poll] or [:poll {key [[offset value] ...]}]"
            .to_owned()),
        (other, _) => {
            let other = shortened(other);
            Err(format!("unknown micro-operation {other:?}, expected :send or :poll"))
        }
    }
}

/// A map whose keys are topic-partitions, order kept.
pub(super) fn pairs<T>(
    form: &Edn<'_>,
    value: impl Fn(&Edn<'_>) -> Result<T, String>,
) -> Result<Vec<(Key, T)>, String> {
    let Edn::Map(fields) = form else {
        return Err(format!("expected a map of keys, not {}", shown(form)));
    };
    let mut seen = HashSet::with_capacity(fields.len());
    let mut pairs = Vec::with_capacity(fields.len());
    for (of, said) in fields {
        let key = key(of)?;
        if !seen.insert(key.clone()) {
            return Err(format!("`{}` {TWICE}", shortened(&key)));
        }
        pairs.push((key, value(said)?));
    }
    Ok(pairs)
}

fn records(form: &Edn<'_>) -> Result<Vec<ReadRecord>, String> {
    list(form, "[offset value] pairs")?
        .iter()
        .map(|record| match record {
            Edn::List(parts) => match parts.as_slice() {
                [offset, value] => Ok(ReadRecord(told_offset(offset)?, record_value(value)?)),
                _ => Err("a record that was read is [offset value]".to_owned()),
            },
            other => Err(format!("a record that was read is [offset value], not {}", shown(other))),
        })
        .collect()
}

/// The last part of a send.
fn sent_value(form: &Edn<'_>) -> Result<(Value, Ack), String> {
    let Edn::List(parts) = form else { return Ok((record_value(form)?, Ack::None)) };
    match parts.as_slice() {
        [offset, value] => {
            let ack = told_offset(offset)?.map_or(Ack::Unknown, Ack::At);
            Ok((record_value(value)?, ack))
        }
        _ => Err("what an acknowledged send says is [offset value]".to_owned()),
    }
}

fn record_value(form: &Edn<'_>) -> Result<Value, String> {
    match form {
        Edn::Int(value) => Ok(*value),
        other => Err(format!("the value of a record must be a whole number, not {}", shown(other))),
    }
}

/// An offset of some log, or none.
fn told_offset(form: &Edn<'_>) -> Result<Option<Offset>, String> {
    match form {
        Edn::Nil => Ok(None),
        other => offset(other).map(Some),
    }
}

/// An offset of some log.
pub(super) fn offset(form: &Edn<'_>) -> Result<Offset, String> {
    match form {
        Edn::Int(offset) => check_offset(*offset),
        other => Err(format!("expected an offset, not {}", shown(other))),
    }
}

/// The items of a list.
pub(super) fn list<'f, 'a>(form: &'f Edn<'a>, of: &str) -> Result<&'f [Edn<'a>], String> {
    match form {
        Edn::List(items) => Ok(items),
        other => Err(format!("expected a list of {of}, not {}", shown(other))),
    }
}

/// What a message calls a form.
fn shown(form: &Edn<'_>) -> String {
    match form {
        Edn::Nil => "nil".to_owned(),
        Edn::Bool(is) => is.to_string(),
        Edn::Int(number) => number.to_string(),
        Edn::Big(number) => number.to_string(),
        Edn::Float(number) => number.to_string(),
        Edn::Text(text) => format!("{:?}", shortened(text)),
        Edn::Word(name) => format!(":{}", shortened(name)),
        Edn::List(_) => "a list".to_owned(),
        Edn::Map(_) => "a map".to_owned(),
    }
}
