//! Anomalies of consumer groups and of records' own keys.

use highwater_history::{
    EventValue, Key, Offset,
    event::{Ack, EventKind, Function},
};
use rand::RngExt;

use super::{
    Expected, Field,
    field::{poll, send},
};

/// A process commits for a group.
fn commit(field: &mut Field, process: u64, group: u64, generation: i64, to: (&Key, Offset)) {
    let offsets = || EventValue::Offsets(vec![(to.0.clone(), to.1)]);
    field.perform(process, Function::Commit, [offsets(), offsets()], EventKind::Ok);
    field.beside(process, "group", format!("g-{group}").into());
    field.beside(process, "generation", generation.into());
}

/// Breaks group-skip: between what a group was given and what it committed, or what another member
/// was given, lie records that no member was given.
pub fn pass_over(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(n + 2)?;
    let log = field.logs[&key].clone();
    let first = field.rng.random_range(0..log.len() - n - 1);
    let (member, other) = (field.fresh_process(), field.fresh_process());
    let group = member;
    field.follow(member, member);
    field.poll(member, &key, &[log[first]], EventKind::Ok);
    let next = log[first + n + 1];
    if field.rng.random_bool(0.5) {
        commit(field, member, group, 1, (&key, log[first + n].0 + 1));
    } else {
        commit(field, member, group, 1, (&key, log[first].0 + 1));
        field.follow(other, member);
        field.poll(other, &key, &[next], EventKind::Ok);
        commit(field, other, group, 2, (&key, next.0 + 1));
    }
    Some(Expected::only("group-skip", n))
}

/// Is stale-commit: a group accepts commits of a generation after one of a later generation.
pub fn commit_late(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    let (new, old) = (field.fresh_process(), field.fresh_process());
    commit(field, new, new, 2, (&key, 0));
    field.follow(old, new);
    for _ in 0..n {
        commit(field, old, new, 1, (&key, 0));
    }
    Some(Expected::permitted("stale-commit", n))
}

/// Breaks offset-regression: a process asks for what it committed itself and is told something
/// older, or that there is nothing.
pub fn forget_commit(field: &mut Field, n: usize) -> Option<Expected> {
    let key = field.key_with(1)?;
    for _ in 0..n {
        let process = field.fresh_process();
        let older = field.rng.random_range(0..5);
        commit(field, process, process, 1, (&key, older));
        commit(field, process, process, 1, (&key, older + 7));
        let told = match field.rng.random_bool(0.5) {
            true => vec![(key.clone(), older)],
            false => Vec::new(),
        };
        let asked = EventValue::Keys(vec![key.clone()]);
        let answered = EventValue::Offsets(told);
        field.perform(process, Function::Committed, [asked, answered], EventKind::Ok);
        field.beside(process, "group", format!("g-{process}").into());
    }
    Some(Expected::only("offset-regression", n))
}

/// Breaks key-on-two-partitions: records with one key are sent to two partitions of a topic.
pub fn send_elsewhere(field: &mut Field, n: usize) -> Option<Expected> {
    let first = field.key_with(1)?;
    for _ in 0..n {
        let record_key = format!("k-{}", field.fresh_process());
        for key in [first.clone(), Key::of("t", 99), Key::of("another", 1)] {
            let (sender, value) = (field.fresh_process(), field.fresh_value());
            let at = field.append(&key, value);
            let sent = vec![send(&key, value, Ack::At(at))];
            field.operate(sender, Function::Send, sent, EventKind::Ok);
            field.beside(sender, "record_keys", vec![record_key.clone()].into());
            let reader = field.fresh_process();
            field.follow(reader, sender);
            field.operate(reader, Function::Poll, vec![poll(&key, &[(at, value)])], EventKind::Ok);
        }
    }
    Some(Expected::only("key-on-two-partitions", n))
}
