//! Changes of what was sent and acknowledged.

use std::collections::BTreeSet;

use highwater_history::{
    Event, EventValue, Key, Value,
    event::{Ack, EventKind, MicroOp},
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{any, reads::near};

/// Every acknowledgement of a completion.
fn acks(events: &mut [Event]) -> Vec<(Key, &mut Ack)> {
    let mut acks = Vec::new();
    for event in events.iter_mut().filter(|event| event.kind != EventKind::Invoke) {
        let EventValue::Ops(ops) = &mut event.value else { continue };
        for op in ops {
            if let MicroOp::Send { key, ack, .. } = op {
                acks.push((key.clone(), ack));
            }
        }
    }
    acks
}

pub fn change_ack(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some((_, ack)) = any(acks(events), rng) else { return };
    *ack = match *ack {
        _ if rng.random_range(0..5) == 0 => Ack::Unknown,
        _ if rng.random_range(0..5) == 0 => Ack::None,
        Ack::At(offset) => Ack::At(near(offset, rng)),
        Ack::None | Ack::Unknown => Ack::At(rng.random_range(0..10)),
    };
}

/// A record is acknowledged where another one of its key was.
pub fn give_offset_again(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some((key, from)) = any(acks(events), rng).map(|(key, ack)| (key, *ack)) else { return };
    let others = acks(events).into_iter().filter(|(of, _)| *of == key).collect();
    if let Some((_, ack)) = any(others, rng) {
        *ack = from;
    }
}

/// Sends another value instead of one, in the invocation and in the completion.
fn send_instead(events: &mut [Event], (key, old): &(Key, Value), new: Value) {
    for event in events {
        let EventValue::Ops(ops) = &mut event.value else { continue };
        for op in ops {
            if let MicroOp::Send { key: of, value, .. } = op
                && (&*of, &*value) == (key, old)
            {
                *value = new;
            }
        }
    }
}

fn any_sent(events: &[Event], rng: &mut ChaCha8Rng) -> Option<(Key, Value)> {
    let mut sent = BTreeSet::new();
    for event in events {
        let EventValue::Ops(ops) = &event.value else { continue };
        for op in ops {
            if let MicroOp::Send { key, value, .. } = op {
                sent.insert((key.clone(), *value));
            }
        }
    }
    any(sent.into_iter().collect(), rng)
}

pub fn send_another_value(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some(record) = any_sent(events, rng) {
        send_instead(events, &record, 100 + rng.random_range(0..1000));
    }
}

/// One record is sent twice: such a history is unfit, so it is rare.
pub fn send_twice(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if rng.random_range(0..10) == 0
        && let (Some(one), Some(other)) = (any_sent(events, rng), any_sent(events, rng))
    {
        send_instead(events, &one, other.1);
    }
}
