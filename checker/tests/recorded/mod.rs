//! A history that is written for a test: sends to some keys in turn, and who reads nearly all.

use std::path::Path;

use highwater_history::{
    Event, EventValue, Key,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
    recorder::Recorder,
};

/// So many sends over so many keys, and polls that pass over every seventh record.
pub fn record(file: &Path, keys: i64, sends: i64) {
    let mut recorder = Recorder::create(file).expect("a history is created");
    let mut put = |process, kind, f, op| {
        let event = Event::new(0, Process::Client(process), kind, f);
        recorder.append(&mut event.with_value(EventValue::Ops(vec![op]))).expect("it is written");
    };
    for value in 0..sends {
        let (key, offset) = (Key::of("t", (value % keys) as i32), value / keys);
        for (kind, ack) in [(EventKind::Invoke, Ack::None), (EventKind::Ok, Ack::At(offset))] {
            put(1, kind, Function::Send, MicroOp::Send { key: key.clone(), value, ack });
        }
        if value % 7 != 0 {
            put(2, EventKind::Invoke, Function::Poll, MicroOp::Poll { records: None });
            let records = Some(vec![(key, vec![ReadRecord(Some(offset), value)])]);
            put(2, EventKind::Ok, Function::Poll, MicroOp::Poll { records });
        }
    }
    recorder.flush().expect("it is written");
}
