//! Writes a big valid history, and says how many events a second the recorder took.
//!
//! Usage: `big_history FILE [OPERATIONS]`; `/dev/null` measures the recorder alone.

use std::{env, path::Path, process::ExitCode, time::Instant};

use highwater_history::{
    Event, EventValue, Key, Offset, TimeNs, Value,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
    recorder::{RecordError, Recorder},
    types::ProcessId,
};

const KEYS: usize = 16;
const PRODUCERS: u64 = 64;
const CONSUMERS: u64 = 16;
const SENDS_PER_POLL: u64 = 3;
const FINAL_READ_RECORDS: usize = 500;
const TAIL_READ_RECORDS: usize = 100;
const STEP_NS: TimeNs = 5_000;

/// A log that is always right: appends in order, reads from a position.
struct World {
    recorder: Recorder,
    keys: Vec<Key>,
    logs: Vec<Vec<Value>>,
    positions: Vec<usize>,
    now: TimeNs,
}

impl World {
    fn event(&mut self, process: ProcessId, kind: EventKind, f: Function) -> Event {
        self.now += STEP_NS;
        Event::new(self.now, Process::Client(process), kind, f)
    }

    fn send(&mut self, value: Value) -> Result<(), RecordError> {
        let process = value as u64 % PRODUCERS;
        let key = value as usize % KEYS;
        let offset = self.logs[key].len() as Offset;
        self.logs[key].push(value);
        for (kind, ack) in [(EventKind::Invoke, Ack::None), (EventKind::Ok, Ack::At(offset))] {
            let op = MicroOp::Send { key: self.keys[key].clone(), value, ack };
            let mut event = self.event(process, kind, Function::Send);
            event.node = (kind == EventKind::Ok).then_some(1);
            self.recorder.append(&mut event.with_value(EventValue::Ops(vec![op])))?;
        }
        Ok(())
    }

    fn poll(&mut self, process: ProcessId, key: usize, most: usize) -> Result<(), RecordError> {
        let from = self.positions[key];
        let to = (from + most).min(self.logs[key].len());
        let read = (from..to).map(|at| ReadRecord(Some(at as Offset), self.logs[key][at]));
        let records = vec![(self.keys[key].clone(), read.collect())];
        self.positions[key] = to;
        for records in [None, Some(records)] {
            let kind = if records.is_some() { EventKind::Ok } else { EventKind::Invoke };
            let event = self.event(process, kind, Function::Poll);
            let ops = vec![MicroOp::Poll { records }];
            self.recorder.append(&mut event.with_value(EventValue::Ops(ops)))?;
        }
        Ok(())
    }

    fn final_read(&mut self, key: usize) -> Result<(), RecordError> {
        self.positions[key] = 0;
        while self.positions[key] < self.logs[key].len() {
            self.poll(PRODUCERS + CONSUMERS + key as u64, key, FINAL_READ_RECORDS)?;
        }
        Ok(())
    }
}

fn write(file: &Path, operations: u64) -> Result<u64, RecordError> {
    let mut world = World {
        recorder: Recorder::create(file)?,
        keys: (0..KEYS).map(|key| Key::of("log", key as i32)).collect(),
        logs: vec![Vec::new(); KEYS],
        positions: vec![0; KEYS],
        now: 0,
    };
    for nth in 0..operations / (SENDS_PER_POLL + 1) {
        for send in 0..SENDS_PER_POLL {
            world.send((nth * SENDS_PER_POLL + send) as Value)?;
        }
        let key = nth as usize % KEYS;
        world.poll(PRODUCERS + key as u64, key, TAIL_READ_RECORDS)?;
    }
    for key in 0..KEYS {
        world.final_read(key)?;
    }
    world.recorder.flush()?;
    Ok(world.recorder.len())
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let Some(file) = args.first() else {
        eprintln!("usage: big_history FILE [OPERATIONS]");
        return ExitCode::from(64);
    };
    let operations = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let start = Instant::now();
    match write(Path::new(file), operations) {
        Ok(events) => {
            let seconds = start.elapsed().as_secs_f64();
            println!("{events} events in {seconds:.2} s: {:.0} a second", events as f64 / seconds);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
