//! Columns give back what they took, also as bytes, and refuse what does not fit together.

use std::slice;

use proptest::prelude::*;
use serde_json::json;

use super::{
    Columns,
    file::{BinaryReader, BinaryWriter},
    stored::Stored,
};
use crate::event::{Event, EventKind, EventValue, Function, Process};

/// Events of every shape, from a few numbers.
fn event(index: u64, [what, a, b, c]: [u64; 4]) -> Event {
    let kind = ["invoke", "ok", "fail", "info"][(a % 4) as usize];
    let (key, other) = (format!("t-{}", a % 3), format!("t-{}", b % 3 + 3));
    let offset = if c % 5 == 0 { json!(null) } else { json!(c) };
    let next = if c % 5 == 0 { json!(null) } else { json!(c + 1 + b % 2) };
    let mut event = json!({"index": index, "time": index * 7, "process": b % 4, "type": kind});
    let (f, value) = match what % 9 {
        0 => ("send", json!([["send", key, a]])),
        1 => ("send", json!([["send", key, [offset, a]], ["send", other, [null, b]]])),
        2 => ("poll", json!([["poll"]])),
        3 => ("poll", json!([["poll", {&key: [[offset, a], [next, b]], &other: []}]])),
        4 => ("txn", json!([["send", key, a], ["poll", {}], ["poll"]])),
        5 => ("poll", json!(null)),
        6 => ("assign", json!([key, other])),
        7 => ("send", json!([])),
        _ => ("kill", json!({"nodes": [a]})),
    };
    event["f"] = json!(f);
    event["value"] = value;
    if what % 9 == 8 {
        event["process"] = json!("nemesis");
    }
    if b % 3 == 0 {
        event["node"] = json!(a as i32 - 2);
    }
    if c % 4 == 1 {
        event["error"] = json!({"code": "TIMEOUT"});
        event["strange"] = json!([a]);
    }
    serde_json::from_value(event).expect("an event")
}

fn columns_of(events: &[Event]) -> Columns {
    let mut columns = Columns::default();
    events.iter().zip(1..).for_each(|(event, line)| columns.push(line, event.clone()));
    columns
}

fn events_of(columns: &Columns) -> Vec<Event> {
    columns.rows().map(|row| columns.event(&row)).collect()
}

fn written(events: &[Event]) -> Vec<u8> {
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory takes it");
    for (event, line) in events.iter().zip(1..) {
        writer.put(line, event.clone()).expect("memory takes it");
    }
    writer.finish(false).expect("memory takes it")
}

/// The events that are read, whether more are missing, or why they are not.
fn read(bytes: Vec<u8>) -> Result<(Vec<Event>, Option<u64>), String> {
    let text = Box::new(std::io::Cursor::new(bytes));
    let mut reader = BinaryReader::of("h.hwh".into(), false, text).map_err(|e| e.to_string())?;
    let mut events = Vec::new();
    while let Some(event) = reader.read_next().map_err(|error| error.to_string())? {
        events.push(event);
    }
    Ok((events, reader.dropped_line()))
}

fn some_events() -> impl Strategy<Value = Vec<Event>> {
    proptest::collection::vec(any::<[u16; 4]>(), 0..40).prop_map(|seeds| {
        let event = |(seed, index): ([u16; 4], u64)| event(index, seed.map(u64::from));
        seeds.into_iter().zip(0..).map(event).collect()
    })
}

proptest! {
    #[test]
    fn columns_give_back_what_they_took(events in some_events()) {
        let columns = columns_of(&events);
        prop_assert_eq!(&events_of(&columns), &events);
        let mut again = Columns::default();
        Stored::of(&columns).fill(&mut again).expect("they fit");
        prop_assert_eq!(again, columns);
    }

    #[test]
    fn a_binary_history_gives_back_its_events(events in some_events()) {
        prop_assert_eq!(read(written(&events)), Ok((events, None)));
    }

    /// What is changed is told, unless it says the same; what was cut is never whole.
    #[test]
    fn damage_is_told(events in some_events(), at in any::<u32>(), to in any::<u8>()) {
        let whole = written(&events);
        let at = at as usize % whole.len();
        let mut damaged = whole.clone();
        damaged[at] = to;
        if let Ok((read, cut)) = read(damaged) {
            let as_told = cut.is_some() || read.len() == events.len();
            prop_assert!(as_told && events.starts_with(&read));
        }
        if let Ok((read, cut)) = read(whole[..at].to_vec()) {
            prop_assert!(cut.is_some() && events.starts_with(&read));
        }
    }

    /// Columns that were made up: a sentence, or events.
    #[test]
    fn what_does_not_fit_together_is_refused(
        events in some_events(), byte in any::<u32>(), to in any::<u8>(),
    ) {
        let mut bytes =
            postcard::to_allocvec(&Stored::of(&columns_of(&events))).expect("memory takes it");
        let at = byte as usize % bytes.len();
        bytes[at] = to;
        let mut columns = Columns::default();
        if let Ok(stored) = postcard::from_bytes::<Stored>(&bytes)
            && stored.fill(&mut columns).is_ok()
        {
            events_of(&columns);
        }
    }
}

/// What columns say after a change of their bytes, as a sentence.
fn refusal(events: &[Event], change: impl Fn(&mut Columns)) -> String {
    let mut columns = columns_of(events);
    change(&mut columns);
    Stored::of(&columns).fill(&mut Columns::default()).expect_err("they do not fit")
}

#[test]
fn an_event_beside_the_columns_is_theirs() {
    let said = event(3, [1, 0, 0, 1]);
    assert!(columns_of(slice::from_ref(&said)).rows().all(|row| row.detail().is_some()));
    let why = "an event beside its columns is another than theirs";
    let changes: [fn(&mut Event); 6] = [
        |event| event.f = Function::Poll,
        |event| event.process = Process::Client(7),
        |event| event.process = Process::Nemesis,
        |event| event.kind = EventKind::Info,
        |event| event.index += 1,
        |event| event.value = EventValue::Keys(Vec::new()),
    ];
    for change in changes {
        let found = refusal(slice::from_ref(&said), |columns| change(&mut columns.details[0]));
        assert_eq!(found, why);
    }
}

#[test]
fn keys_stand_once() {
    let read = event(3, [3, 0, 0, 1]);
    let twice =
        refusal(slice::from_ref(&read), |columns| columns.keys[1] = columns.keys[0].clone());
    assert_eq!(twice, "it names a key twice");
    let twice =
        refusal(slice::from_ref(&read), |columns| columns.polled[1].key = columns.polled[0].key);
    assert_eq!(twice, "a poll of it names a key twice");
}

/// What is too large for one block together is written as several.
#[test]
fn large_events_share_no_block() {
    let mut events = [event(0, [1, 0, 0, 1]), event(1, [1, 0, 0, 1]), event(2, [1, 0, 0, 1])];
    for event in &mut events {
        event.extra.insert("large".to_owned(), "x".repeat(3 << 19).into());
    }
    assert_eq!(read(written(&events)), Ok((events.to_vec(), None)));
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory takes it");
    events[0].extra.insert("larger".to_owned(), "x".repeat(4 << 20).into());
    writer.put(1, events[0].clone()).expect("it waits");
    let why = writer.finish(false).expect_err("it is too large").to_string();
    assert_eq!(why, "the event on line 1 is too large for it");
}
