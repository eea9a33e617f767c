//! EDN values that nobody interprets, as JSON and back.
//!
//! Keywords become strings, and where a name stands a string becomes a keyword again.

use std::{borrow::Cow, fmt::Write};

use serde_json::{Map, Value};

use super::{parse::Edn, token::shortened};
use crate::unique::TWICE;

/// The JSON that holds what a form says.
pub(super) fn to_json(form: Edn<'_>) -> Result<Value, String> {
    Ok(match form {
        Edn::Nil => Value::Null,
        Edn::Bool(is) => is.into(),
        Edn::Int(number) => number.into(),
        Edn::Big(number) => number.into(),
        Edn::Float(number) => number.into(),
        Edn::Text(text) => text.into_owned().into(),
        Edn::Word(name) => name.into(),
        Edn::List(items) => items.into_iter().map(to_json).collect::<Result<Vec<_>, _>>()?.into(),
        Edn::Map(pairs) => to_object(pairs)?.into(),
    })
}

fn to_object(pairs: Vec<(Edn<'_>, Edn<'_>)>) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    for (name, value) in pairs {
        let name = field_name(name).into_owned();
        let value = to_json(value)?;
        if fields.contains_key(&name) {
            return Err(format!("`{}` {TWICE}", shortened(&name)));
        }
        fields.insert(name, value);
    }
    Ok(fields)
}

/// The name that a form is as the key of a map. What is no name stands as it would be read, without
/// quotes: quotes within quotes would double from level to level.
pub(super) fn field_name(form: Edn<'_>) -> Cow<'_, str> {
    match form {
        Edn::Word(name) => name.into(),
        Edn::Text(text) => text,
        other => {
            let mut name = String::new();
            spell(&mut name, &other);
            name.into()
        }
    }
}

fn spell(out: &mut String, form: &Edn<'_>) {
    match form {
        Edn::Nil => out.push_str("nil"),
        Edn::Bool(is) => put(out, is),
        Edn::Int(number) => put(out, number),
        Edn::Big(number) => put(out, number),
        Edn::Float(number) => put(out, number),
        Edn::Text(text) => out.push_str(text),
        Edn::Word(name) => out.push_str(name),
        Edn::List(items) => write_list(out, items, spell),
        Edn::Map(pairs) => write_list(out, pairs, |out, (name, value)| {
            spell(out, name);
            out.push(' ');
            spell(out, value);
        }),
    }
}

/// Writes JSON as EDN.
pub(super) fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("nil"),
        Value::Bool(is) => out.push_str(if *is { "true" } else { "false" }),
        Value::Number(number) => match number.as_u64() {
            Some(number) => write_whole(out, number),
            None => put(out, number),
        },
        Value::String(text) => write_text(out, text),
        Value::Array(items) => write_list(out, items, write_json),
        Value::Object(fields) => {
            out.push('{');
            for (nth, (name, value)) in fields.iter().enumerate() {
                out.push_str(if nth == 0 { "" } else { ", " });
                write_name(out, name);
                out.push(' ');
                write_json(out, value);
            }
            out.push('}');
        }
    }
}

/// Writes a list, one item after the other.
pub(super) fn write_list<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push('[');
    for (nth, item) in items.into_iter().enumerate() {
        out.push_str(if nth == 0 { "" } else { " " });
        write(out, item);
    }
    out.push(']');
}

/// Writes what prints itself as EDN does.
pub(super) fn put(out: &mut String, what: impl std::fmt::Display) {
    write!(out, "{what}").expect("a string takes any text");
}

/// Writes a whole number; one beyond 63 bits says so, as Clojure prints it.
pub(super) fn write_whole(out: &mut String, number: u64) {
    put(out, number);
    if i64::try_from(number).is_err() {
        out.push('N');
    }
}

/// Writes a name as a keyword, or as a string where it is no keyword.
pub(super) fn write_name(out: &mut String, name: &str) {
    match is_keyword(name) {
        true => {
            out.push(':');
            out.push_str(name);
        }
        false => write_text(out, name),
    }
}

/// Writes a string; what would break the line is escaped.
pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Whether every reader of EDN takes a name for a keyword; fewer than there are.
fn is_keyword(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.?!*+".contains(&byte))
    };
    match name.split_once('/') {
        Some((space, name)) => is_word(space) && is_word(name),
        None => is_word(name),
    }
}
