//! Anomalies in what clients were told.

use std::collections::BTreeMap;

use highwater_history::{
    Event, EventValue, Key, Offset, Value,
    event::{Ack, EventKind, Function, MicroOp, PayloadError, PayloadFault, Process, ReadRecord},
};

use super::{Counts, Place, Run};

impl Run {
    fn poll(&mut self, process: u64, place: &Place, records: &[(Offset, Value)]) {
        let read = records.iter().map(|(offset, value)| ReadRecord(Some(*offset), *value));
        let records = Some(vec![(place.key.clone(), read.collect())]);
        let asked = vec![MicroOp::Poll { records: None }];
        self.operate(process, Function::Poll, asked, MicroOp::Poll { records });
    }
}

/// Who acknowledged what where, for sends of one record.
fn single_acks(events: &[Event], of: &Key) -> BTreeMap<Offset, (usize, Process)> {
    let mut acks = BTreeMap::new();
    for (nth, event) in events.iter().enumerate() {
        let EventValue::Ops(ops) = &event.value else { continue };
        let [MicroOp::Send { key, ack: Ack::At(offset), .. }] = &ops[..] else { continue };
        if event.kind == EventKind::Ok && key == of {
            acks.insert(*offset, (nth, event.process.clone()));
        }
    }
    acks
}

pub fn move_ack(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let acks = single_acks(&run.events, &place.key);
    // The next offset is another process's, or that one's order would be broken as well, and was
    // acknowledged before, or this would seem to be too early.
    let (offset, nth) = acks.iter().rev().find_map(|(offset, (nth, process))| {
        let (next, other) = acks.get(&(offset + 1))?;
        (other != process && next < nth).then_some((*offset, *nth))
    })?;
    let EventValue::Ops(ops) = &mut run.events[nth].value else { return None };
    let [MicroOp::Send { ack, .. }] = &mut ops[..] else { return None };
    *ack = Ack::At(offset + 1);
    Some([("duplicate", 1), ("inconsistent-offsets", 1)].into())
}

pub fn forge_ack(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let (key, value) = (place.key, run.fresh_value());
    let asked = MicroOp::Send { key: key.clone(), value, ack: Ack::None };
    let got = MicroOp::Send { key, value, ack: Ack::At(place.end + 5) };
    run.operate(1, Function::Send, vec![asked], got);
    Some([("lost-write", 1), ("unseen", 1)].into())
}

pub fn read_unsent(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let unsent = (place.end + 5, run.fresh_value());
    run.poll(1, &place, &[unsent]);
    Some([("phantom-read", 1)].into())
}

pub fn step_back(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let records = run.single_records(&place);
    let [one, other] = records[records.len().checked_sub(2)?..] else { return None };
    run.poll(1, &place, &[other]);
    run.poll(1, &place, &[one]);
    Some([("nonmonotonic-poll", 1)].into())
}

pub fn skip(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let records = run.single_records(&place);
    let [one, _, other] = records[records.len().checked_sub(3)?..] else { return None };
    run.poll(1, &place, &[one]);
    run.poll(1, &place, &[other]);
    Some([("poll-skip", 1)].into())
}

pub fn damage_payload(run: &mut Run) -> Option<Counts> {
    wrong_payload(run, PayloadFault::Corrupt)?;
    Some([("corrupt-payload", 1)].into())
}

pub fn misplace_payload(run: &mut Run) -> Option<Counts> {
    wrong_payload(run, PayloadFault::Misplaced)?;
    Some([("misplaced", 1)].into())
}

fn wrong_payload(run: &mut Run, fault: PayloadFault) -> Option<()> {
    let place = run.place()?;
    run.poll(1, &place, &[]);
    let (key, offset) = (place.key, place.end - 1);
    let error = PayloadError { key, offset, fault, value: None, found_key: None, detail: None };
    run.events.last_mut()?.payload_errors = Some(vec![error]);
    Some(())
}

pub fn reuse_producer_id(run: &mut Run) -> Option<Counts> {
    let opened = |event: &&Event| match &event.value {
        EventValue::Open(client) => client.producer_id.is_some_and(|id| id >= 0),
        _ => false,
    };
    let mut again = run.events.iter().find(opened)?.clone();
    if let EventValue::Open(client) = &mut again.value {
        client.client += 1_000_000;
        client.processes = vec![2_000_000];
    }
    again.time = run.after_all();
    run.events.push(again);
    Some([("producer-id-reuse", 1)].into())
}
