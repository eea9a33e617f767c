//! Questions for committed offsets and for logs' ends, which the model's histories have none of.

use highwater_history::{
    Event, EventValue, Key, Offset,
    event::{EventKind, Function, Process},
};
use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::{any, groups, reads::polled};

/// Processes ask here and there which offset one of two groups has committed of a key.
pub fn ask_committed(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    if rng.random_bool(0.7) {
        groups::commit(events, rng);
    }
    for _ in 0..rng.random_range(1..=3) {
        let Some((key, offset)) = any(committed(events), rng) else { return };
        let answer = match rng.random_range(0..4) {
            0 => None,
            1 => Some(rng.random_range(0..10)),
            _ => Some(offset),
        };
        let group = format!("g-{}", rng.random_range(0..2));
        ask(events, Function::Committed, (key, answer), rng, |event| {
            event.extra.insert("group".to_owned(), group.clone().into());
        });
    }
}

/// Processes ask here and there where a log ends.
pub fn ask_ends(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    for _ in 0..rng.random_range(1..=3) {
        let Some((key, records)) = any(polled(events), rng) else { return };
        let last = records.last().and_then(|record| record.0).unwrap_or(0);
        let end = (last + rng.random_range(-2..=4)).max(0);
        ask(events, Function::EndOffsets, (key, Some(end)), rng, |_| {});
    }
}

/// What commits name.
fn committed(events: &[Event]) -> Vec<(Key, Offset)> {
    let named = events.iter().filter_map(|event| match (&event.f, &event.value) {
        (Function::Commit, EventValue::Offsets(offsets)) => Some(offsets.clone()),
        _ => None,
    });
    named.flatten().collect()
}

fn ask(
    events: &mut Vec<Event>,
    f: Function,
    (key, answer): (Key, Option<Offset>),
    rng: &mut ChaCha8Rng,
    say: impl Fn(&mut Event),
) {
    let at = rng.random_range(0..=events.len());
    let Some(process) = any(groups::idle(&events[..at]), rng) else { return };
    let kinds = [EventKind::Ok, EventKind::Ok, EventKind::Ok, EventKind::Fail];
    let mut event = Event::new(0, Process::Client(process), EventKind::Invoke, f);
    event.time = events[at.min(events.len() - 1)].time;
    say(&mut event);
    let is_free = |end: usize| events[at..end].iter().all(|other| other.process != event.process);
    let end = Some(rng.random_range(at..=events.len())).filter(|_| rng.random_bool(0.3));
    let end = end.filter(|end| is_free(*end)).unwrap_or(at);
    let mut done = event.clone();
    event.value = EventValue::Keys(vec![key.clone()]);
    done.kind = *kinds.choose(rng).expect("there are kinds");
    done.time = events[end.min(events.len() - 1)].time;
    done.value = EventValue::Offsets(answer.map(|offset| (key, offset)).into_iter().collect());
    events.insert(end, done);
    events.insert(at, event);
}
