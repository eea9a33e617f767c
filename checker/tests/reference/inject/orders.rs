//! Anomalies of the order in which a process sends and reads.

use highwater_history::{
    EventValue, Key, Offset, Value,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
};
use rand::{RngExt, seq::IndexedRandom};

use super::{Expected, Field};

/// New records at the end of a log, one after the other.
pub fn fresh_records(field: &mut Field, key: &Key, n: usize) -> Vec<(Offset, Value)> {
    let mut records = Vec::new();
    for _ in 0..n {
        let value = field.fresh_value();
        records.push((field.append(key, value), value));
    }
    records
}

/// Breaks nonmonotonic-send: each operation of a process lands before the one before it. Where an
/// acknowledgement tells no offset, the poll of the record does.
pub fn send_back(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let records = fresh_records(field, &key, n + 1);
    let process = field.fresh_process();
    for (at, value) in records.iter().rev() {
        let ack = if field.rng.random_bool(0.7) { Ack::At(*at) } else { Ack::Unknown };
        field.send(process, &key, &[(*value, ack)], EventKind::Ok);
    }
    field.read_on(&[process], &key, &records);
    Some(Expected::only("nonmonotonic-send", n))
}

/// Breaks int-nonmonotonic-send: the same within one operation.
pub fn send_back_within(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let records = fresh_records(field, &key, n + 1);
    let process = field.fresh_process();
    let sent: Vec<_> = records.iter().rev().map(|(at, value)| (*value, Ack::At(*at))).collect();
    field.send(process, &key, &sent, EventKind::Ok);
    field.read_on(&[process], &key, &records);
    Some(Expected::only("int-nonmonotonic-send", n))
}

/// Breaks nothing, and is int-send-skip: another's record lands between two of one operation.
pub fn send_skipping_within(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let records = fresh_records(field, &key, 2 * n + 1);
    let (process, other) = (field.fresh_process(), field.fresh_process());
    let acked = |(at, value): &(Offset, Value)| (*value, Ack::At(*at));
    let own: Vec<_> = records.iter().step_by(2).map(acked).collect();
    field.send(process, &key, &own, EventKind::Ok);
    for record in records.iter().skip(1).step_by(2) {
        field.send(other, &key, &[acked(record)], EventKind::Ok);
    }
    field.read_on(&[process, other], &key, &records);
    Some(Expected::permitted("int-send-skip", n))
}

/// Reads stretches of a log one after the other, each an operation of a new reader; the last one
/// may end in any way.
fn read_stretches(field: &mut Field, key: &Key, stretches: &[Vec<(Offset, Value)>]) {
    let process = field.fresh_process();
    field.follow(process, process);
    for (nth, stretch) in stretches.iter().enumerate() {
        let last = nth + 1 == stretches.len();
        let outcome = if last { field.any_outcome() } else { EventKind::Ok };
        field.poll(process, key, stretch, outcome);
    }
}

/// Breaks nonmonotonic-poll: each operation of a reader begins at or before where the last ended.
pub fn poll_back(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2)?;
    let log = field.logs[&key].clone();
    let mut stretches = Vec::new();
    let mut last = log.len() - 1;
    for _ in 0..=n {
        let first = field.rng.random_range(0..=last);
        last = field.rng.random_range(first..log.len());
        stretches.push(log[first..=last].to_vec());
    }
    read_stretches(field, &key, &stretches);
    Some(Expected::only("nonmonotonic-poll", n))
}

/// Breaks int-nonmonotonic-poll: within one operation each record is at or before the last one.
pub fn poll_back_within(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2)?;
    let log = field.logs[&key].clone();
    let mut at = log.len() - 1;
    let mut records = vec![log[at]];
    for _ in 0..n {
        at = field.rng.random_range(0..=at);
        records.push(log[at]);
    }
    read_stretches(field, &key, &[records]);
    Some(Expected::only("int-nonmonotonic-poll", n))
}

/// Records of a log with at least one left out between any two that are asked for.
fn leaving_out(field: &mut Field, log: &[(Offset, Value)], n: usize) -> Vec<(Offset, Value)> {
    let spare = log.len() - (2 * n + 1);
    let mut at = field.rng.random_range(0..=spare);
    let mut left = spare - at;
    let mut records = vec![log[at]];
    for _ in 0..n {
        let more = field.rng.random_range(0..=left);
        left -= more;
        at += 2 + more;
        records.push(log[at]);
    }
    records
}

/// Breaks poll-skip: each operation of a reader begins further on than next to where the last
/// ended.
pub fn skip(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2 * n + 1)?;
    let log = field.logs[&key].clone();
    let records = leaving_out(field, &log, n);
    let stretches: Vec<_> = records.into_iter().map(|record| vec![record]).collect();
    read_stretches(field, &key, &stretches);
    Some(Expected::only("poll-skip", n))
}

/// Breaks int-poll-skip: the same within one operation.
pub fn skip_within(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2 * n + 1)?;
    let log = field.logs[&key].clone();
    let records = leaving_out(field, &log, n);
    read_stretches(field, &key, &[records]);
    Some(Expected::only("int-poll-skip", n))
}

/// The lists of at least so many records of a key that operations of the model returned, the key in
/// no rebalance-log and no offset left out.
fn lists(field: &mut Field, at_least: usize) -> Vec<&mut Vec<ReadRecord>> {
    let mut lists = Vec::new();
    for event in &mut field.events {
        let others = event.process != Process::Client(field.reader);
        let EventValue::Ops(ops) = &mut event.value else { continue };
        for op in ops.iter_mut().filter(|_| others && event.rebalance_log.is_none()) {
            let MicroOp::Poll { records: Some(records) } = op else { continue };
            let told = records.iter_mut().map(|(_, records)| records);
            lists.extend(told.filter(|records| {
                records.len() >= at_least && records.iter().all(|record| record.0.is_some())
            }));
        }
    }
    lists
}

/// Breaks int-nonmonotonic-poll: a poll that was right returned a record once more.
pub fn repeat_within(field: &mut Field, n: usize) -> Option<Expected> {
    let rng = &mut field.rng.clone();
    let mut lists = lists(field, 1);
    let nth = *(0..lists.len()).collect::<Vec<_>>().choose(rng)?;
    let at = rng.random_range(0..lists[nth].len());
    for _ in 0..n {
        let record = lists[nth][at];
        lists[nth].insert(at, record);
    }
    Some(Expected::only("int-nonmonotonic-poll", n))
}

/// Breaks int-poll-skip: a poll that was right lacks a record between two others.
pub fn drop_within(field: &mut Field, n: usize) -> Option<Expected> {
    let rng = &mut field.rng.clone();
    let mut lists = lists(field, 3);
    let most = lists.len().min(n);
    for records in lists.iter_mut().take(n) {
        let at = rng.random_range(1..records.len() - 1);
        records.remove(at);
    }
    (most > 0).then(|| Expected::only("int-poll-skip", most))
}

/// Breaks reset-skip: processes that go back to the beginning begin behind the first record, which
/// they are given the next time.
pub fn begin_late(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(2)?;
    let log = field.logs[&key].clone();
    for _ in 0..n {
        let process = field.fresh_process();
        field.follow(process, field.reader);
        field.rewind(process, &key);
        field.poll(process, &key, &log[1..], EventKind::Ok);
        field.rewind(process, &key);
        field.poll(process, &key, &log, EventKind::Ok);
    }
    Some(Expected::only("reset-skip", n))
}

/// Breaks successor-mismatch: where nobody tells offsets, readers of a record go on to others.
pub fn go_on_otherwise(field: &mut Field, n: usize) -> Option<Expected> {
    let key = Key::of("untold", 0);
    for _ in 0..n {
        let sender = field.fresh_process();
        let [first, next, other] = [(); 3].map(|()| field.fresh_value());
        for value in [first, next, other] {
            field.send(sender, &key, &[(value, Ack::Unknown)], EventKind::Ok);
        }
        for behind in [next, other] {
            let reader = field.fresh_process();
            field.follow(reader, sender);
            let read = [first, behind].map(|value| ReadRecord(None, value)).to_vec();
            let polled = MicroOp::Poll { records: Some(vec![(key.clone(), read)]) };
            field.operate(reader, Function::Poll, vec![polled], EventKind::Ok);
        }
    }
    Some(Expected::only("successor-mismatch", n))
}

/// Breaks latest-regression: a process is told that a log ends, and then that it ends earlier.
pub fn end_earlier(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let process = field.fresh_process();
    let end = field.logs[&key].last().map_or(0, |(offset, _)| *offset) + 10;
    for told in std::iter::once(end).chain((0..n).map(|_| end - 5)) {
        let asked = EventValue::Keys(vec![key.clone()]);
        let answered = EventValue::Offsets(vec![(key.clone(), told)]);
        field.perform(process, Function::EndOffsets, [asked, answered], EventKind::Ok);
    }
    Some(Expected::only("latest-regression", n))
}
