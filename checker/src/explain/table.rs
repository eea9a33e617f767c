//! Operations as rows that a person reads.

use std::collections::BTreeMap;

use highwater_history::{
    Event, EventValue, LeaderEpoch,
    event::{
        Attempts, EventKind, Function, MicroOp, OpenClient, PayloadFault, Process, ReadRecord,
    },
    types::ProcessId,
};

use super::{Fault, Place, Row, probe::Probe, unit::Unit};
use crate::view::KeyView;

/// The rows of operations, in order.
pub(super) fn rows(probe: &mut Probe<'_>, least: &[Unit]) -> Vec<Row> {
    probe.set(least);
    let sessions = sessions(probe.surroundings);
    let of_units = |keys: &[KeyView<'_>]| {
        let row = |unit: &Unit| Row {
            role: role(unit, sessions.get(&unit.process()).copied()),
            records: places(unit, keys),
            left_out: unit.whole.saturating_sub(unit.records()),
            ..row(unit)
        };
        least.iter().map(row).collect()
    };
    probe.look(|_, keys| of_units(keys)).unwrap_or_default()
}

fn row(unit: &Unit) -> Row {
    let done = unit.done.as_ref();
    Row {
        events: unit.events().map(|event| event.index).collect(),
        from: unit.invoke.time,
        to: done.map(|done| done.time),
        process: unit.process(),
        role: String::new(),
        node: done.and_then(|done| done.node),
        asked: asked(&unit.invoke),
        answer: done.map_or("it never ended".to_owned(), answer),
        records: Vec::new(),
        left_out: 0,
    }
}

/// The session of each process.
fn sessions(surroundings: &[Event]) -> BTreeMap<ProcessId, &OpenClient> {
    let opened = surroundings.iter().filter_map(|event| match &event.value {
        EventValue::Open(client) => Some(&**client),
        _ => None,
    });
    opened.flat_map(|client| client.processes.iter().map(move |number| (*number, client))).collect()
}

fn role(unit: &Unit, session: Option<&OpenClient>) -> String {
    let by_deed = match unit.invoke.f {
        Function::Send => "producer",
        Function::Txn => "transactions",
        Function::Poll
        | Function::Assign
        | Function::Subscribe
        | Function::Commit
        | Function::Committed
        | Function::EndOffsets => "consumer",
        _ => "client",
    };
    let Some(session) = session else { return by_deed.to_owned() };
    let mut role = match session.role.as_deref() {
        Some("final-read") => "final read".to_owned(),
        _ => by_deed.to_owned(),
    };
    if unit.invoke.f == Function::Send {
        role += &session.acks.map_or_else(String::new, |acks| format!(", acks={}", acks.as_str()));
    }
    if let Some(group) = &session.group {
        role += &format!(", group {group}");
    }
    role
}

fn asked(invoke: &Event) -> String {
    let f = invoke.f.as_str();
    let to_beginning = if invoke.seek_to_beginning { " from the beginning" } else { "" };
    match &invoke.value {
        EventValue::Ops(ops) => {
            let parts: Vec<String> = ops.iter().map(micro_op).collect();
            match invoke.f {
                Function::Txn => format!("txn: {}", parts.join(", ")),
                _ => parts.join(", "),
            }
        }
        EventValue::Keys(keys) => {
            let keys: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
            format!("{f} {}{to_beginning}", keys.join(" "))
        }
        EventValue::Offsets(offsets) => {
            let of_key = offsets.iter().map(|(key, offset)| format!("{key}={offset}"));
            let field = |name: &str| invoke.extra.get(name).map(|value| format!(" {name} {value}"));
            let group = ["group", "generation"].into_iter().filter_map(field);
            format!("{f} {}{}", of_key.collect::<Vec<_>>().join(" "), group.collect::<String>())
        }
        _ => f.to_owned(),
    }
}

fn micro_op(op: &MicroOp) -> String {
    match op {
        MicroOp::Send { key, value, .. } => format!("send {key} {value}"),
        MicroOp::Poll { .. } => "poll".to_owned(),
    }
}

fn answer(done: &Event) -> String {
    let code = done.error.as_ref().map_or_else(String::new, |error| format!(" {}", error.code));
    let tries = match &done.attempts {
        Some(Attempts::List(list)) if list.len() > 1 => {
            let codes: Vec<String> =
                list.iter().map(|one| format!("node {} {}", one.node, one.code)).collect();
            format!(" after {}", codes.join(", "))
        }
        _ => String::new(),
    };
    let in_part = match &done.errors {
        Some(errors) if errors.iter().any(Option::is_some) => ", in part otherwise",
        _ => "",
    };
    let word = match done.kind {
        EventKind::Ok => "ok",
        EventKind::Fail => "fail",
        EventKind::Info | EventKind::Invoke => "unknown",
    };
    let strange = done.payload_errors.iter().flatten();
    let strange = strange.map(|error| match error.fault {
        PayloadFault::Corrupt => format!(", {} at {} is damaged", error.key, error.offset),
        PayloadFault::Misplaced => {
            format!(", {} at {} was made for another place", error.key, error.offset)
        }
    });
    format!("{word}{code}{in_part}{tries}{}", strange.collect::<String>())
}

fn places(unit: &Unit, keys: &[KeyView<'_>]) -> Vec<Place> {
    let mut places = Vec::new();
    for op in unit.micro_ops() {
        match op {
            MicroOp::Send { key, value, ack } => {
                let (key, offset) = (key.clone(), ack.offset());
                places.push(Place { key, offset, value: *value, epoch: None });
            }
            MicroOp::Poll { records } => {
                for (key, records) in records.iter().flatten() {
                    let of_record = |record: &ReadRecord| Place {
                        key: key.clone(),
                        offset: record.0,
                        value: record.1,
                        epoch: None,
                    };
                    places.extend(records.iter().map(of_record));
                }
            }
        }
    }
    for place in &mut places {
        place.epoch = epoch(place, unit, keys);
    }
    places
}

/// The epoch that a poll told itself, else what anything tells.
fn epoch(place: &Place, unit: &Unit, keys: &[KeyView<'_>]) -> Option<LeaderEpoch> {
    let offset = place.offset?;
    let runs = unit.done.as_ref()?.leader_epochs.iter().flatten();
    let mut of_key = runs.filter(|(key, _)| *key == place.key);
    let told = of_key.find_map(|(_, runs)| runs.iter().rfind(|run| run.0 <= offset));
    told.map(|run| run.1).or_else(|| {
        let view = keys.iter().find(|view| view.key.key == place.key)?;
        view.epoch_of(view.key.records.find(place.value)?, offset)
    })
}

/// Faults that are told.
const FAULTS: usize = 12;

/// What the nemesis did from the first of the operations on up to the last; all of it where there
/// are none.
pub(super) fn faults(surroundings: &[Event], least: &[Unit]) -> Vec<Fault> {
    let times = || least.iter().flat_map(Unit::events).map(|event| event.time);
    let (from, to) = (times().min().unwrap_or(0), times().max().unwrap_or(u64::MAX));
    let acts = surroundings.iter().filter(|event| event.process == Process::Nemesis);
    let meanwhile = acts.filter(|event| (from..=to).contains(&event.time));
    let fault = |event: &Event| {
        let value = match &event.value {
            EventValue::Other(value) => format!(" {value}"),
            _ => String::new(),
        };
        let what = format!("{}{value}", event.f.as_str());
        Fault { event: event.index, at: event.time, what }
    };
    meanwhile.take(FAULTS).map(fault).collect()
}
