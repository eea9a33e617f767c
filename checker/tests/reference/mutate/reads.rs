//! Changes of what polls returned.

use highwater_history::{
    Event, EventValue, Key, Offset,
    event::{Ack, MicroOp, ReadRecord},
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::any;

/// Every list of records that a poll returned of one key, which is not empty.
pub fn polled(events: &mut [Event]) -> Vec<(Key, &mut Vec<ReadRecord>)> {
    let mut lists = Vec::new();
    for event in events {
        let EventValue::Ops(ops) = &mut event.value else { continue };
        for op in ops {
            let MicroOp::Poll { records: Some(records) } = op else { continue };
            let some = records.iter_mut().filter(|(_, records)| !records.is_empty());
            lists.extend(some.map(|(key, records)| (key.clone(), records)));
        }
    }
    lists
}

fn any_list<'a>(
    events: &'a mut [Event],
    rng: &mut ChaCha8Rng,
) -> Option<(&'a mut Vec<ReadRecord>, usize)> {
    let (_, records) = any(polled(events), rng)?;
    let nth = rng.random_range(0..records.len());
    Some((records, nth))
}

pub fn swap_read_values(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let mut all: Vec<_> = polled(events).into_iter().flat_map(|(_, r)| r.iter_mut()).collect();
    if all.len() < 2 {
        return;
    }
    let (one, other) = (rng.random_range(0..all.len()), rng.random_range(0..all.len()));
    let values = (all[one].1, all[other].1);
    (all[other].1, all[one].1) = values;
}

/// An offset near this one.
pub fn near(offset: Offset, rng: &mut ChaCha8Rng) -> Offset {
    (offset + rng.random_range(-3..=3)).max(0)
}

pub fn change_read_offset(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some((records, nth)) = any_list(events, rng) {
        records[nth].0 = records[nth].0.map(|offset| near(offset, rng));
    }
}

pub fn forget_read_offset(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some((records, nth)) = any_list(events, rng) {
        records[nth].0 = None;
    }
}

/// Nobody tells an offset of a key.
pub fn forget_offsets_of_a_key(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some((key, _)) = any(polled(events), rng) else { return };
    for (_, records) in polled(events).into_iter().filter(|(of, _)| *of == key) {
        records.iter_mut().for_each(|record| record.0 = None);
    }
    for event in events {
        let EventValue::Ops(ops) = &mut event.value else { continue };
        for op in ops {
            match op {
                MicroOp::Send { key: of, ack: ack @ Ack::At(_), .. } if *of == key => {
                    *ack = Ack::Unknown;
                }
                MicroOp::Send { .. } | MicroOp::Poll { .. } => {}
            }
        }
    }
}

pub fn drop_read(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some((records, nth)) = any_list(events, rng) {
        records.remove(nth);
    }
}

pub fn empty_poll(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some((records, _)) = any_list(events, rng) {
        records.clear();
    }
}

pub fn repeat_read(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some((records, nth)) = any_list(events, rng) {
        let at = rng.random_range(0..=records.len());
        records.insert(at, records[nth]);
    }
}

pub fn reorder_poll(events: &mut [Event], rng: &mut ChaCha8Rng) {
    if let Some((records, nth)) = any_list(events, rng) {
        let other = rng.random_range(0..records.len());
        records.swap(nth, other);
    }
}

/// A record of one poll turns up in another one, of any key.
pub fn read_from_another_key(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let Some(record) = any_list(events, rng).map(|(records, nth)| records[nth]) else { return };
    if let Some((records, nth)) = any_list(events, rng) {
        records.insert(nth, record);
    }
}

/// A poll returns a record that some operation sends, perhaps its own, where that one was told it
/// is.
pub fn read_what_is_sent(events: &mut [Event], rng: &mut ChaCha8Rng) {
    let (mut sent, mut polls) = (Vec::new(), Vec::new());
    for event in events {
        let EventValue::Ops(ops) = &mut event.value else { continue };
        for op in ops {
            match op {
                MicroOp::Send { key, value, ack } => sent.push((key.clone(), *value, ack.offset())),
                MicroOp::Poll { records: Some(records) } => polls.push(records),
                MicroOp::Poll { records: None } => {}
            }
        }
    }
    let (Some((key, value, offset)), Some(poll)) = (any(sent, rng), any(polls, rng)) else {
        return;
    };
    let record = ReadRecord(offset, value);
    match poll.iter_mut().find(|(of, _)| *of == key) {
        Some((_, records)) => records.push(record),
        None => poll.push((key, vec![record])),
    }
}
