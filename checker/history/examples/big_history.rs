//! Writes a big history, and says how many events a second the recorder took.
//!
//! Usage: `big_history FILE [OPERATIONS] [broken|single]`; `/dev/null` measures the recorder alone,
//! `/dev/stdout` streams. Half of the operations are sends of one to five records, half are polls
//! of up to eight records of three partitions: about 445 bytes an operation. A `broken` history's
//! polls pass over every second record: more anomalies than operations. In a `single` one each send
//! has one record, and each poll returns one of one partition to the only consumer.

use std::{env, path::Path, process::ExitCode, time::Instant};

use highwater_history::{
    Event, EventValue, Key, Offset, TimeNs, Value,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
    recorder::{RecordError, Recorder},
    types::ProcessId,
};

const KEYS: usize = 20;
const PRODUCERS: u64 = 3;
const STEP_NS: TimeNs = 5_000;

/// What operations look like.
struct Shape {
    consumers: u64,
    most_sent: u64,
    partitions_polled: usize,
    records_polled: usize,
    /// Whether polls pass over every second record.
    broken: bool,
}

impl Shape {
    const WIDE: Self =
        Self { consumers: 7, most_sent: 5, partitions_polled: 3, records_polled: 8, broken: false };

    /// The shape of a name; none means wide and valid.
    fn named(name: Option<&str>) -> Option<Self> {
        match name {
            None => Some(Self::WIDE),
            Some("broken") => Some(Self { broken: true, ..Self::WIDE }),
            Some("single") => Some(Self {
                consumers: 1,
                most_sent: 1,
                partitions_polled: 1,
                records_polled: 1,
                broken: false,
            }),
            Some(_) => None,
        }
    }
}

/// A log that is always right: appends in order, reads from a position.
struct World {
    recorder: Recorder,
    keys: Vec<Key>,
    /// What each log holds from `cut` on: what every consumer has read is forgotten.
    logs: Vec<Vec<Value>>,
    cut: Vec<usize>,
    /// By consumer and key.
    positions: Vec<Vec<usize>>,
    next: Value,
    now: TimeNs,
    shape: Shape,
}

impl World {
    fn event(&mut self, process: ProcessId, kind: EventKind, f: Function) -> Event {
        self.now += STEP_NS;
        let mut event = Event::new(self.now, Process::Client(process), kind, f);
        event.node = (kind == EventKind::Ok).then_some(1);
        event
    }

    fn send(&mut self, nth: u64) -> Result<(), RecordError> {
        let process = nth % PRODUCERS;
        let mut ops: Vec<MicroOp> = Vec::new();
        for sent in 0..=(nth / PRODUCERS) % self.shape.most_sent {
            let key = ((nth / PRODUCERS * 7 + process * 3 + sent) % KEYS as u64) as usize;
            let key = self.keys[key].clone();
            ops.push(MicroOp::Send { key, value: self.next, ack: Ack::None });
            self.next += 1;
        }
        let invoke = self.event(process, EventKind::Invoke, Function::Send);
        self.recorder.append(&mut invoke.with_value(EventValue::Ops(ops.clone())))?;
        for op in &mut ops {
            let MicroOp::Send { key, value, ack } = op else { continue };
            let at = self.keys.iter().position(|known| known == key).unwrap_or(0);
            *ack = Ack::At((self.cut[at] + self.logs[at].len()) as Offset);
            self.logs[at].push(*value);
        }
        let ok = self.event(process, EventKind::Ok, Function::Send);
        self.recorder.append(&mut ok.with_value(EventValue::Ops(ops))).map(drop)
    }

    /// Polls the next partitions in turn; the number of records that came.
    fn poll(&mut self, nth: u64) -> Result<usize, RecordError> {
        let Shape { consumers, partitions_polled, records_polled, broken, .. } = self.shape;
        let consumer = (nth % consumers) as usize;
        let process = PRODUCERS + consumer as u64;
        let invoke = self.event(process, EventKind::Invoke, Function::Poll);
        let asked = vec![MicroOp::Poll { records: None }];
        self.recorder.append(&mut invoke.with_value(EventValue::Ops(asked)))?;
        let first = (nth / consumers) as usize * partitions_polled;
        let mut records = Vec::new();
        for key in (first..first + partitions_polled).map(|key| key % KEYS) {
            let from = self.positions[consumer][key];
            let to = (from + records_polled).min(self.cut[key] + self.logs[key].len());
            let all = (from..to)
                .map(|at| ReadRecord(Some(at as Offset), self.logs[key][at - self.cut[key]]));
            let read: Vec<_> =
                all.filter(|ReadRecord(_, value)| !broken || value % 2 == 0).collect();
            self.positions[consumer][key] = to;
            if !read.is_empty() {
                records.push((self.keys[key].clone(), read));
            }
        }
        let came = records.iter().map(|(_, read)| read.len()).sum();
        let ok = self.event(process, EventKind::Ok, Function::Poll);
        let answered = vec![MicroOp::Poll { records: Some(records) }];
        self.recorder.append(&mut ok.with_value(EventValue::Ops(answered)))?;
        Ok(came)
    }

    /// Forgets what everybody has read.
    fn forget(&mut self) {
        for key in 0..KEYS {
            let read = self.positions.iter().map(|of| of[key]).min().unwrap_or(0);
            self.logs[key].drain(..read - self.cut[key]);
            self.cut[key] = read;
        }
    }
}

fn write(file: &Path, operations: u64, shape: Shape) -> Result<u64, RecordError> {
    let consumers = shape.consumers;
    let mut world = World {
        recorder: Recorder::create(file)?,
        keys: (0..KEYS).map(|key| Key::of("orders", key as i32)).collect(),
        logs: vec![Vec::new(); KEYS],
        cut: vec![0; KEYS],
        positions: vec![vec![0; KEYS]; consumers as usize],
        next: 0,
        now: 0,
        shape,
    };
    let (mut sends, mut polls) = (0, 0);
    // So many polls keep up with what is sent.
    while sends + polls < operations {
        if polls * 9 < sends * 11 {
            world.poll(polls)?;
            polls += 1;
        } else {
            world.send(sends)?;
            sends += 1;
        }
        if (sends + polls) % 10_000 == 0 {
            world.forget();
        }
    }
    // All is read to its end.
    let mut quiet = 0;
    while quiet < consumers * KEYS as u64 {
        quiet = if world.poll(polls)? == 0 { quiet + 1 } else { 0 };
        polls += 1;
    }
    world.recorder.flush()?;
    Ok(world.recorder.len())
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let shape = Shape::named(args.get(2).map(String::as_str));
    let (Some(file), Some(shape)) = (args.first(), shape) else {
        eprintln!("usage: big_history FILE [OPERATIONS] [broken|single]");
        return ExitCode::from(64);
    };
    let operations = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let start = Instant::now();
    match write(Path::new(file), operations, shape) {
        Ok(events) => {
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("{events} events in {seconds:.2} s: {:.0} a second", events as f64 / seconds);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
