//! Anomalies of records and offsets.

use highwater_history::{
    Key, Offset, Value,
    event::{Ack, EventKind, Function},
};
use rand::RngExt;

use super::{
    Expected, Field,
    field::{poll, send},
};
use crate::reference::{facts::Facts, polls};

/// Breaks lost-write: an acknowledged record has an offset that an ok poll passed, and nobody read
/// it. It is unseen as well, and whoever went past its offset has skipped it.
pub fn lose(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2)?;
    let (lost, expected) = open_gaps(field, &key, n);
    for at in lost {
        let (process, value) = (field.fresh_process(), field.fresh_value());
        field.send(process, &key, &[(value, Ack::At(at))], EventKind::Ok);
    }
    Some(expected)
}

/// Breaks torn-transaction: one record of a transaction is lost, another one is read.
pub fn tear(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2)?;
    let (lost, expected) = open_gaps(field, &key, n);
    let (mut senders, mut kept) = (Vec::new(), Vec::new());
    for at in lost {
        let (process, gone, there) =
            (field.fresh_process(), field.fresh_value(), field.fresh_value());
        let ops = vec![send(&key, gone, Ack::At(at)), send(&key, there, Ack::Unknown)];
        field.operate(process, Function::Txn, ops, EventKind::Ok);
        senders.push(process);
        kept.push((field.append(&key, there), there));
    }
    field.read_on(&senders, &key, &kept);
    Some(expected.and("torn-transaction", n))
}

/// Opens gaps below the end of a log, for records that will be lost there: where, and what has to
/// be counted once they are.
fn open_gaps(field: &mut Field, key: &Key, n: usize) -> (Vec<Offset>, Expected) {
    let mut lost: Vec<Offset> = Vec::new();
    for _ in 0..n {
        let log = &field.logs[key];
        let last = log[log.len() - 1].0;
        let at = field.rng.random_range(0..=last);
        field.open_gap(key, at);
        lost.iter_mut().for_each(|other| *other += Offset::from(*other >= at));
        lost.push(at);
    }
    let (outer, inner) = passed(&field.facts(), key, &lost);
    let expected = Expected::only("lost-write", n).and("unseen", n);
    (lost, expected.and("poll-skip", outer).and("int-poll-skip", inner))
}

/// How many ways between operations and within one went past any of these offsets, where nothing
/// permits it. In a valid history each of them is one step.
fn passed(facts: &Facts, key: &Key, lost: &[Offset]) -> (usize, usize) {
    let past = |way: &&polls::Way| {
        let past = lost.iter().any(|at| way.from < *at && *at < way.to);
        way.key == *key && past && !way.subscribed
    };
    let count = |ways: Vec<polls::Way>| ways.iter().filter(past).count();
    (count(polls::outer_ways(facts)), count(polls::inner_ways(facts)))
}

/// Records of a log whose offset every poll of them told: a second offset takes no place away.
fn told(field: &Field, key: &Key) -> Vec<(Offset, Value)> {
    let facts = field.facts();
    let untold = |value: Value| {
        let mut reads = facts.all_reads().map(|(_, read)| read);
        reads.any(|read| read.key == *key && read.value == value && read.offset.is_none())
    };
    field.logs[key].iter().copied().filter(|(_, value)| !untold(*value)).collect()
}

/// Breaks duplicate: a record is read again at another offset, behind all others.
pub fn repeat(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let victims: Vec<_> = told(field, &key).into_iter().take(n).collect();
    let again: Vec<_> =
        victims.iter().map(|(_, value)| (field.append(&key, *value), *value)).collect();
    field.read_on(&[], &key, &again);
    (!victims.is_empty()).then(|| Expected::only("duplicate", victims.len()))
}

/// Breaks inconsistent-offsets: another record is read, and at times acknowledged, where one was
/// read; two others at one offset are no more than one.
pub fn give_offset_twice(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(n)?;
    for at in field.logs[&key].clone().into_iter().take(n).map(|(at, _)| at) {
        for _ in 0..field.rng.random_range(1..=2) {
            let (sender, value) = (field.fresh_process(), field.fresh_value());
            let (ack, outcome) = match field.rng.random_bool(0.5) {
                true => (Ack::At(at), EventKind::Ok),
                false => (Ack::None, EventKind::Info),
            };
            field.send(sender, &key, &[(value, ack)], outcome);
            let process = field.fresh_process();
            field.follow(process, sender);
            field.poll(process, &key, &[(at, value)], EventKind::Ok);
        }
    }
    Some(Expected::only("inconsistent-offsets", n))
}

/// Breaks unseen: an acknowledged record is never read, and stands at no offset, or behind all that
/// was read.
pub fn hide(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    for _ in 0..n {
        let (process, value) = (field.fresh_process(), field.fresh_value());
        let at = field.append(&key, value);
        let ack = if field.rng.random_bool(0.5) { Ack::At(at) } else { Ack::Unknown };
        field.send(process, &key, &[(value, ack)], EventKind::Ok);
    }
    Some(Expected::only("unseen", n))
}

/// Breaks G1a: another operation, of any outcome, reads what a failed one sent.
pub fn show_aborted(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let sender = field.fresh_process();
    for _ in 0..n {
        let value = field.fresh_value();
        field.send(sender, &key, &[(value, Ack::None)], EventKind::Fail);
        let at = field.append(&key, value);
        for _ in 0..field.rng.random_range(1..=2) {
            let (process, outcome) = (field.fresh_process(), field.any_outcome());
            field.follow(process, sender);
            field.poll(process, &key, &[(at, value)], outcome);
        }
    }
    Some(Expected::only("G1a", n))
}

/// Breaks precommitted-read: an operation reads what it sends itself.
pub fn read_own(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    for _ in 0..n {
        let (process, value) = (field.fresh_process(), field.fresh_value());
        let at = field.append(&key, value);
        let ops = vec![send(&key, value, Ack::At(at)), poll(&key, &[(at, value)])];
        field.operate(process, Function::Txn, ops, EventKind::Ok);
    }
    Some(Expected::only("precommitted-read", n))
}

/// Breaks phantom-read: a record is read that nobody sent to this key, though perhaps to another.
pub fn make_up(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let sender = field.fresh_process();
    let mut records = Vec::new();
    for _ in 0..n {
        let value = field.fresh_value();
        if field.rng.random_bool(0.5) {
            field.send(sender, &Key::from("elsewhere-0"), &[(value, Ack::None)], EventKind::Info);
        }
        records.push((field.append(&key, value), value));
    }
    field.read_on(&[sender], &key, &records);
    Some(Expected::only("phantom-read", n))
}
