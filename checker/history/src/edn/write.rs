//! Writes an event as an operation that Jepsen reads, on one line.

use serde::Serialize;

use super::{
    json::{put, write_json, write_name, write_text, write_whole},
    read::{NAMES, OURS, THEIRS},
};
use crate::{
    event::{Ack, Event, EventError, EventValue, MicroOp, Process, ReadRecord, Rebalance},
    types::{Key, Offset},
};

/// How keys are written. Jepsen's checker sorts them, so that those of one file must be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// As numbers: all keys are t-N.
    Numbers,
    /// As strings.
    Texts,
}

/// A key is no t-N where all are written as numbers.
#[derive(Debug)]
pub(crate) struct NoNumber;

/// Appends an event, with the line's end.
pub(crate) fn write_event(out: &mut String, event: &Event, keys: Keys) -> Result<(), NoNumber> {
    let mut op = Op { out, keys, is_mixed: false };
    op.head(event);
    op.field("value", |op| op.value(&event.value));
    op.field_if(&event.error, "error", |op, error| op.error(error));
    op.field_if(&event.rebalance_log, "rebalance-log", |op, moves| op.rebalances(moves));
    if event.seek_to_beginning {
        op.field("seek-to-beginning?", |op| op.out.push_str("true"));
    }
    op.ours("node", &event.node);
    op.ours("errors", &event.errors);
    op.ours("attempts", &event.attempts);
    op.ours("id", &event.id);
    op.field_if(&event.leader_epochs, "highwater/leader_epochs", |op, runs| {
        op.map(runs, |op, key| write_name(op.out, key), |op, runs| op.json(runs));
    });
    op.ours("payload_errors", &event.payload_errors);
    op.field_if(&event.intended, "highwater/intended", |op, time| write_whole(op.out, *time));
    for (name, value) in &event.extra {
        op.out.push_str(", ");
        op.extra_name(name);
        op.out.push(' ');
        write_json(op.out, value);
    }
    let is_mixed = op.is_mixed;
    out.push_str("}\n");
    if is_mixed { Err(NoNumber) } else { Ok(()) }
}

struct Op<'a> {
    out: &'a mut String,
    keys: Keys,
    /// Whether a key had to be written in another way than the others.
    is_mixed: bool,
}

impl Op<'_> {
    fn head(&mut self, event: &Event) {
        self.out.push_str("{:index ");
        write_whole(self.out, event.index);
        self.field("time", |op| write_whole(op.out, event.time));
        self.field("type", |op| write_name(op.out, event.kind.as_str()));
        self.field("process", |op| match &event.process {
            Process::Client(number) => write_whole(op.out, *number),
            Process::Nemesis => op.out.push_str(":nemesis"),
            Process::Harness => op.out.push_str(":harness"),
            Process::Other(name) => write_name(op.out, name),
        });
        self.field("f", |op| write_name(op.out, event.f.as_str()));
    }

    fn field(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.out.push_str(", :");
        self.out.push_str(name);
        self.out.push(' ');
        write(self);
    }

    fn field_if<T>(&mut self, said: &Option<T>, name: &str, write: impl FnOnce(&mut Self, &T)) {
        if let Some(said) = said {
            self.field(name, |op| write(op, said));
        }
    }

    /// A field that Jepsen does not have.
    fn ours<T: Serialize>(&mut self, name: &str, said: &Option<T>) {
        if let Some(said) = said {
            self.out.push_str(", :");
            self.out.push_str(OURS);
            self.out.push_str(name);
            self.out.push(' ');
            self.json(said);
        }
    }

    /// The name of a field that nobody knows. A string is never taken for one of ours.
    fn extra_name(&mut self, name: &str) {
        let is_ours = name.strip_prefix(OURS).is_some_and(|name| NAMES.contains(&name));
        match name.strip_prefix(THEIRS) {
            Some(theirs) if NAMES.contains(&theirs) => write_name(self.out, theirs),
            _ if is_ours => write_text(self.out, name),
            _ => write_name(self.out, name),
        }
    }

    fn json<T: Serialize>(&mut self, said: &T) {
        let value = serde_json::to_value(said).expect("what an event holds is JSON");
        write_json(self.out, &value);
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.out.push('[');
        for (nth, item) in items.iter().enumerate() {
            self.out.push_str(if nth == 0 { "" } else { " " });
            write(self, item);
        }
        self.out.push(']');
    }

    fn map<T>(
        &mut self,
        pairs: &[(Key, T)],
        mut name: impl FnMut(&mut Self, &Key),
        mut value: impl FnMut(&mut Self, &T),
    ) {
        self.out.push('{');
        for (nth, (key, said)) in pairs.iter().enumerate() {
            self.out.push_str(if nth == 0 { "" } else { ", " });
            name(self, key);
            self.out.push(' ');
            value(self, said);
        }
        self.out.push('}');
    }

    fn value(&mut self, value: &EventValue) {
        match value {
            EventValue::None => self.out.push_str("nil"),
            EventValue::Ops(ops) => self.list(ops, Self::op),
            EventValue::Keys(keys) => self.list(keys, Self::key),
            EventValue::Offsets(offsets) => {
                self.map(offsets, Self::key, |op, offset| put(op.out, offset));
            }
            EventValue::Open(open) => self.json(open),
            EventValue::OpenTopic(open) => self.json(open),
            EventValue::Other(value) => write_json(self.out, value),
        }
    }

    fn op(&mut self, op: &MicroOp) {
        match op {
            MicroOp::Send { key, value, ack } => {
                self.out.push_str("[:send ");
                self.key(key);
                self.out.push(' ');
                match ack {
                    Ack::None => put(self.out, value),
                    Ack::Unknown | Ack::At(_) => self.record(ack.offset(), *value),
                }
                self.out.push(']');
            }
            MicroOp::Poll { records: None } => self.out.push_str("[:poll]"),
            MicroOp::Poll { records: Some(records) } => {
                self.out.push_str("[:poll ");
                self.map(records, Self::key, |op, records| {
                    op.list(records, |op, ReadRecord(offset, value)| op.record(*offset, *value));
                });
                self.out.push(']');
            }
        }
    }

    fn record(&mut self, offset: Option<Offset>, value: i64) {
        self.out.push('[');
        match offset {
            Some(offset) => put(self.out, offset),
            None => self.out.push_str("nil"),
        }
        self.out.push(' ');
        put(self.out, value);
        self.out.push(']');
    }

    fn key(&mut self, key: &Key) {
        match self.keys {
            Keys::Texts => write_text(self.out, key),
            Keys::Numbers => match number(key) {
                Some(number) => put(self.out, number),
                None => {
                    self.is_mixed = true;
                    write_text(self.out, key);
                }
            },
        }
    }

    /// An error is its code where it says no more.
    fn error(&mut self, error: &EventError) {
        match error {
            EventError { code, outcome: None, extra } if extra.is_empty() => {
                write_name(self.out, code);
            }
            error => self.json(error),
        }
    }

    fn rebalances(&mut self, moves: &[Rebalance]) {
        self.list(moves, |op, moved| {
            op.out.push_str("{:keys ");
            op.list(&moved.keys, Self::key);
            for (name, value) in &moved.extra {
                op.out.push_str(", ");
                write_name(op.out, name);
                op.out.push(' ');
                write_json(op.out, value);
            }
            op.out.push('}');
        });
    }
}

/// The N of a key that is read back from it, t-N.
fn number(key: &Key) -> Option<i64> {
    let digits = key.strip_prefix("t-")?;
    let is_written_so = digits.bytes().all(|digit| digit.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|_| is_written_so)
}
