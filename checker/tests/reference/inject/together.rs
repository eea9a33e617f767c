//! Anomalies of operations that do not fit together: in time, in a circle, within one process.

use highwater_history::{
    Key, Offset, Value,
    event::{Ack, EventKind, Function, MicroOp},
};

use super::{
    Expected, Field,
    field::{poll, send},
    orders::fresh_records,
};

/// Breaks reread-mismatch: a process that reads again from the beginning is given another record at
/// an offset, which is inconsistent as well.
pub fn change_on_reread(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(n)?;
    for (at, first) in field.logs[&key].clone().into_iter().take(n) {
        let (sender, reader) = (field.fresh_process(), field.fresh_process());
        let other = field.fresh_value();
        field.send(sender, &key, &[(other, Ack::None)], EventKind::Info);
        field.follow(reader, sender);
        field.poll(reader, &key, &[(at, first)], EventKind::Ok);
        field.rewind(reader, &key);
        field.poll(reader, &key, &[(at, other)], EventKind::Ok);
    }
    Some(Expected::only("reread-mismatch", n).and("inconsistent-offsets", n))
}

/// Is send-to-the-past: each record stands below one that another process had been told of before
/// its own send began.
pub fn send_to_the_past(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let records = fresh_records(field, &key, n + 1);
    let mut last = field.reader;
    for (at, value) in records.iter().rev() {
        let process = field.fresh_process();
        field.follow(process, last);
        field.send(process, &key, &[(*value, Ack::At(*at))], EventKind::Ok);
        last = process;
    }
    field.read_on(&[last], &key, &records);
    Some(Expected::permitted("send-to-the-past", n))
}

/// Breaks ack-in-the-past: a process reads a record and is told then that what it sends stands
/// below.
pub fn send_below_what_was_read(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let records = fresh_records(field, &key, n + 1);
    let (other, process) = (field.fresh_process(), field.fresh_process());
    let (at, value) = records[n];
    field.send(other, &key, &[(value, Ack::At(at))], EventKind::Ok);
    field.follow(process, other);
    field.poll(process, &key, &[records[n]], EventKind::Ok);
    for (at, value) in &records[..n] {
        field.send(process, &key, &[(*value, Ack::At(*at))], EventKind::Ok);
    }
    field.read_on(&[other, process], &key, &records);
    Some(Expected::only("ack-in-the-past", n))
}

/// Is read-of-the-future: records are read before their send begins.
pub fn read_ahead(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let records = fresh_records(field, &key, n);
    let (reader, sender) = (field.fresh_process(), field.fresh_process());
    field.follow(reader, field.reader);
    field.poll(reader, &key, &records, EventKind::Ok);
    field.follow(sender, reader);
    for (at, value) in records {
        field.send(sender, &key, &[(value, Ack::At(at))], EventKind::Ok);
    }
    Some(Expected::permitted("read-of-the-future", n))
}

fn acked(key: &Key, (at, value): (Offset, Value)) -> MicroOp {
    send(key, value, Ack::At(at))
}

/// Is G0: a record of one transaction stands between two of another. A history with no transaction
/// of its own does not count the circles that it has.
pub fn write_in_a_circle(field: &mut Field, n: usize) -> Option<Expected> {
    field.events.iter().find(|event| event.f == Function::Txn)?;
    let key = field.key_with(1)?;
    let (mut senders, mut all) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let records = fresh_records(field, &key, 3);
        let (one, other) = (field.fresh_process(), field.fresh_process());
        let outer = vec![acked(&key, records[0]), acked(&key, records[2])];
        field.operate(one, Function::Txn, outer, EventKind::Ok);
        field.operate(other, Function::Txn, vec![acked(&key, records[1])], EventKind::Ok);
        senders.extend([one, other]);
        all.extend(records);
    }
    field.read_on(&senders, &key, &all);
    Some(Expected::permitted("G0", n))
}

/// Breaks G1c: each of two transactions reads what the other sends.
pub fn read_in_a_circle(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    for _ in 0..n {
        let records = fresh_records(field, &key, 2);
        for (own, others) in [(0, 1), (1, 0)] {
            let ops = vec![acked(&key, records[own]), poll(&key, &[records[others]])];
            let process = field.fresh_process();
            field.operate(process, Function::Txn, ops, EventKind::Ok);
        }
    }
    Some(Expected::only("G1c", n))
}

/// Breaks G1c-process: a process reads what a transaction sent, and sends only after that what the
/// transaction has read.
pub fn read_then_send(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    for _ in 0..n {
        let records = fresh_records(field, &key, 2);
        let (process, transaction) = (field.fresh_process(), field.fresh_process());
        field.poll(process, &key, &[records[0]], EventKind::Ok);
        let (at, value) = records[1];
        field.send(process, &key, &[(value, Ack::At(at))], EventKind::Ok);
        let ops = vec![acked(&key, records[0]), poll(&key, &[records[1]])];
        field.operate(transaction, Function::Txn, ops, EventKind::Ok);
    }
    Some(Expected::only("G1c-process", n))
}
