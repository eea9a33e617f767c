//! Cuts operations down to the records that a finding takes.
//!
//! What a process was given or sent in a row stays a row: records go from the beginning of its
//! first operation and from the end of its last one, or all of a key. From the middle nothing is
//! taken, for that would show a skip that was none.

use highwater_history::{
    Event, EventValue, Key,
    event::{MicroOp, ReadRecord},
};

use super::{probe::Probe, unit::Unit};

/// What an operation sent to a key, or read from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    key: Key,
    is_send: bool,
}

/// A part of a lane: its records from one on and up to another.
type Window = (usize, usize);

/// The operations, each cut down as far as the finding allows and questions are.
pub(super) fn units(probe: &mut Probe<'_>, units: &[Unit]) -> Vec<Unit> {
    let mut kept = units.to_vec();
    for nth in 0..kept.len() {
        if probe.has_given_up() {
            return kept;
        }
        for lane in lanes(&kept[nth]) {
            drop_lane(probe, &mut kept, nth, &lane);
        }
    }
    for nth in 0..kept.len() {
        if probe.has_given_up() {
            break;
        }
        for lane in lanes(&kept[nth]) {
            narrow(probe, &mut kept, nth, &lane);
        }
    }
    kept
}

fn lanes(unit: &Unit) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = lane_of_each(unit.micro_ops()).into_iter().flatten().collect();
    lanes.sort();
    lanes.dedup();
    lanes
}

/// Every record's lane, micro-operation by micro-operation.
fn lane_of_each(ops: &[MicroOp]) -> Vec<Vec<Lane>> {
    let of_op = |op: &MicroOp| match op {
        MicroOp::Send { key, .. } => vec![Lane { key: key.clone(), is_send: true }],
        MicroOp::Poll { records } => {
            let of_key = |(key, records): &(Key, Vec<ReadRecord>)| {
                vec![Lane { key: key.clone(), is_send: false }; records.len()]
            };
            records.iter().flatten().flat_map(of_key).collect()
        }
    };
    ops.iter().map(of_op).collect()
}

fn len_of(unit: &Unit, lane: &Lane) -> usize {
    lane_of_each(unit.micro_ops()).iter().flatten().filter(|known| *known == lane).count()
}

fn drop_lane(probe: &mut Probe<'_>, kept: &mut [Unit], nth: usize, lane: &Lane) {
    attempt(probe, kept, nth, lane, (0, 0));
}

/// Takes records from the ends of a lane, many at once and then fewer.
fn narrow(probe: &mut Probe<'_>, kept: &mut [Unit], nth: usize, lane: &Lane) {
    let same = |other: &Unit| other.process() == kept[nth].process() && lanes(other).contains(lane);
    let is_first = !kept[..nth].iter().any(same);
    let is_last = !kept[nth + 1..].iter().any(same);
    for (from_the_front, may) in [(false, is_last), (true, is_first)] {
        let mut step = if may { len_of(&kept[nth], lane) / 2 } else { 0 };
        while step > 0 {
            let len = len_of(&kept[nth], lane);
            let window = if from_the_front { (step, len) } else { (0, len.saturating_sub(step)) };
            if step >= len || !attempt(probe, kept, nth, lane, window) {
                step /= 2;
            }
        }
    }
}

/// Whether the finding stands with only this part of a lane; it is cut down so then.
fn attempt(
    probe: &mut Probe<'_>,
    kept: &mut [Unit],
    nth: usize,
    lane: &Lane,
    window: Window,
) -> bool {
    let Some(cut) = cut(&kept[nth], lane, window) else { return false };
    let whole = std::mem::replace(&mut kept[nth], cut);
    let stands = probe.stands(kept);
    if !stands {
        kept[nth] = whole;
    }
    stands
}

/// The operation with a part of one lane; none where its invocation and its completion do not name
/// the same.
fn cut(unit: &Unit, lane: &Lane, window: Window) -> Option<Unit> {
    let mut unit = unit.clone();
    if lane.is_send {
        let goes = sends_that_go(&unit, lane, window)?;
        for event in std::iter::once(&mut unit.invoke).chain(&mut unit.done) {
            remove_micro_ops(event, &goes);
        }
    } else {
        cut_reads(unit.done.as_mut()?, lane, window);
    }
    Some(unit)
}

/// Which micro-operations go, by position.
fn sends_that_go(unit: &Unit, lane: &Lane, (from, to): Window) -> Option<Vec<bool>> {
    let ops = unit.micro_ops();
    if let EventValue::Ops(asked) = &unit.invoke.value
        && asked.len() != ops.len()
    {
        return None;
    }
    let mut nth = 0;
    let goes = ops.iter().map(|op| {
        let of_lane = matches!(op, MicroOp::Send { key, .. } if *key == lane.key);
        let at = nth;
        nth += usize::from(of_lane);
        of_lane && !(from..to).contains(&at)
    });
    Some(goes.collect())
}

/// Removes micro-operations with what stands parallel to them.
fn remove_micro_ops(event: &mut Event, goes: &[bool]) {
    fn retain<T>(of: &mut Vec<T>, goes: &[bool]) {
        let mut goes = goes.iter();
        of.retain(|_| !goes.next().copied().unwrap_or(false));
    }
    if let EventValue::Ops(ops) = &mut event.value {
        retain(ops, goes);
    }
    if let Some(errors) = &mut event.errors {
        retain(errors, goes);
    }
    if let Some(keys) = event.extra.get_mut("record_keys").and_then(|keys| keys.as_array_mut()) {
        retain(keys, goes);
    }
}

fn cut_reads(done: &mut Event, lane: &Lane, (from, to): Window) {
    let EventValue::Ops(ops) = &mut done.value else { return };
    let mut nth = 0;
    for op in ops {
        let MicroOp::Poll { records: Some(keys) } = op else { continue };
        for (_, records) in keys.iter_mut().filter(|(key, _)| *key == lane.key) {
            records.retain(|_| {
                nth += 1;
                (from..to).contains(&(nth - 1))
            });
        }
        keys.retain(|(_, records)| !records.is_empty());
    }
}
