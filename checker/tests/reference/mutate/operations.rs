//! Changes of whole operations: their outcome, process, assignment, or that they are there.

use highwater_history::{
    Event, EventValue,
    event::{EventKind, Function, Process, Rebalance},
};
use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use serde_json::Map;

use super::{any, reads::polled};

/// Positions of the completions of client operations.
fn completions(events: &[Event]) -> Vec<usize> {
    let of_client = |event: &Event| {
        matches!(event.process, Process::Client(_)) && event.kind != EventKind::Invoke
    };
    (0..events.len()).filter(|nth| of_client(&events[*nth])).collect()
}

/// The positions of an operation's events, where it has two and its process had no other in flight.
fn any_operation(events: &[Event], rng: &mut ChaCha8Rng) -> Option<(usize, usize)> {
    let end = any(completions(events), rng)?;
    let of_process = |nth: &usize| events[*nth].process == events[end].process;
    let mut before = (0..end).rev().filter(of_process);
    let begin = before.next().filter(|nth| events[*nth].kind == EventKind::Invoke)?;
    let overlaps = before.next().is_some_and(|nth| events[nth].kind == EventKind::Invoke);
    (!overlaps).then_some((begin, end))
}

pub fn change_outcome(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some(nth) = any(completions(events), rng) else { return };
    let kinds = [EventKind::Ok, EventKind::Fail, EventKind::Info];
    if events[nth].f != Function::Crash {
        events[nth].kind = *kinds.choose(rng).expect("there are kinds");
    }
}

/// An operation is another process's; often that one is in an operation then, which is unfit.
pub fn change_process(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let (Some((begin, end)), other) = (any_operation(events, rng), rng.random_range(0..5)) else {
        return;
    };
    for nth in [begin, end] {
        events[nth].process = Process::Client(other);
    }
}

pub fn note_rebalance(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some(nth) = any(completions(events), rng) else { return };
    let key = any(polled(events), rng).map(|(key, _)| key);
    let keys = key.into_iter().collect();
    events[nth].rebalance_log = Some(vec![Rebalance { keys, extra: Map::new() }]);
}

/// A completion that is not ok says no more than that.
pub fn forget_value(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some(nth) = any(completions(events), rng) else { return };
    if events[nth].kind != EventKind::Ok {
        events[nth].value = EventValue::None;
    }
}

/// A process's last completion goes missing.
pub fn crash(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    let Some(nth) = any(completions(events), rng) else { return };
    let last = !events[nth + 1..].iter().any(|event| event.process == events[nth].process);
    if last {
        events.remove(nth);
    }
}

pub fn forget_operation(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    if let Some((begin, end)) = any_operation(events, rng) {
        events.remove(end);
        events.remove(begin);
    }
}

/// An assignment goes missing, is made another way, takes other keys or goes back.
pub fn change_assignment(events: &mut Vec<Event>, rng: &mut ChaCha8Rng) {
    let assigns = |(_, end): &(usize, usize)| matches!(events[*end].value, EventValue::Keys(_));
    let tries = (0..8).filter_map(|_| any_operation(events, rng)).collect::<Vec<_>>();
    let Some((begin, end)) = tries.into_iter().find(assigns) else { return };
    let what = rng.random_range(0..4);
    if what == 0 {
        events.remove(end);
        events.remove(begin);
        return;
    }
    for nth in [begin, end] {
        let event = &mut events[nth];
        match (&mut event.value, what) {
            (_, 1) => event.f = Function::Subscribe,
            (EventValue::Keys(keys), 2) => drop(keys.pop()),
            _ => event.seek_to_beginning ^= true,
        }
    }
}
