//! Random broken histories: explanations are enough, and none of them too much; and what a what-if
//! says is so.

mod explain;
mod what_if;

use std::collections::BTreeSet;

use highwater_checker::{Evidence, Options, check};
use highwater_history::{
    Event, EventValue, Key, Manifest,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
};
use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};

/// What one operation of a random history does.
#[derive(Clone, Debug)]
enum Deed {
    /// Sends so many records to a key; how it ends, and whether offsets are told.
    Send { key: usize, records: usize, ends: u8, told: bool },
    /// Reads so many records from each key, from where its process stands; how it ends.
    Poll { records: usize, ends: u8 },
    /// A transaction that sends to both keys and reads.
    Txn { ends: u8, reads: usize },
    /// Takes one key, or both, maybe from the beginning.
    Assign { both: bool, to_beginning: bool },
}

/// Something that is not as it was: which event, which record of it, and how.
type Lie = (prop::sample::Index, prop::sample::Index, u8, i64);

const KEYS: usize = 2;
const PROCESSES: u64 = 4;

/// What a log of two keys would show of these deeds.
#[derive(Default)]
struct World {
    events: Vec<Event>,
    logs: [Vec<i64>; KEYS],
    positions: [[usize; KEYS]; PROCESSES as usize],
    next_value: i64,
}

fn key(nth: usize) -> Key {
    Key::of("t", nth as i32)
}

fn kind(ends: u8) -> EventKind {
    match ends % 8 {
        0 => EventKind::Fail,
        1 => EventKind::Info,
        _ => EventKind::Ok,
    }
}

impl World {
    fn act(&mut self, process: u64, deed: &Deed) {
        match *deed {
            Deed::Send { key, records, ends, told } => {
                let kind = kind(ends);
                let ops: Vec<_> = (0..records).map(|_| self.append(key, kind, told)).collect();
                self.operate(process, kind, Function::Send, ops);
            }
            Deed::Poll { records, ends } => {
                let ops = vec![self.read(process, records)];
                self.operate(process, kind(ends), Function::Poll, ops);
            }
            Deed::Txn { ends, reads } => {
                let kind = kind(ends);
                let mut ops = vec![self.read(process, reads)];
                ops.extend((0..KEYS).map(|key| self.append(key, kind, true)));
                self.operate(process, kind, Function::Txn, ops);
            }
            Deed::Assign { both, to_beginning } => {
                let keys: Vec<Key> = (0..=usize::from(both)).map(key).collect();
                let at = &mut self.positions[process as usize];
                for (nth, position) in at.iter_mut().enumerate() {
                    *position = if to_beginning || nth >= keys.len() { 0 } else { *position };
                }
                for kind in [EventKind::Invoke, EventKind::Ok] {
                    let event = self.event(process, kind, Function::Assign);
                    event.value = EventValue::Keys(keys.clone());
                    event.seek_to_beginning = to_beginning;
                }
            }
        }
    }

    fn append(&mut self, nth: usize, kind: EventKind, told: bool) -> MicroOp {
        let value = self.next_value;
        self.next_value += 1;
        let ack = match kind {
            EventKind::Ok if told => Ack::At(self.logs[nth].len() as i64),
            EventKind::Ok => Ack::Unknown,
            EventKind::Fail | EventKind::Info | EventKind::Invoke => Ack::None,
        };
        if kind != EventKind::Fail {
            self.logs[nth].push(value);
        }
        MicroOp::Send { key: key(nth), value, ack }
    }

    fn read(&mut self, process: u64, most: usize) -> MicroOp {
        let of_key = |(nth, position): (usize, &mut usize)| {
            let log = &self.logs[nth];
            let to = (*position + most).min(log.len());
            let from = std::mem::replace(position, to);
            let read = (from..to).map(|at| ReadRecord(Some(at as i64), log[at]));
            (key(nth), read.collect::<Vec<_>>())
        };
        let positions = self.positions[process as usize].iter_mut().enumerate();
        MicroOp::Poll { records: Some(positions.map(of_key).collect()) }
    }

    fn operate(&mut self, process: u64, kind: EventKind, f: Function, ops: Vec<MicroOp>) {
        let asked = ops.iter().map(|op| match op {
            MicroOp::Send { key, value, .. } => {
                MicroOp::Send { key: key.clone(), value: *value, ack: Ack::None }
            }
            MicroOp::Poll { .. } => MicroOp::Poll { records: None },
        });
        let asked = EventValue::Ops(asked.collect());
        self.event(process, EventKind::Invoke, f.clone()).value = asked;
        self.event(process, kind, f).value = EventValue::Ops(ops);
    }

    fn event(&mut self, process: u64, kind: EventKind, f: Function) -> &mut Event {
        let index = self.events.len() as u64;
        let mut event = Event::new(index * 1_000_000, Process::Client(process), kind, f);
        event.index = index;
        self.events.push(event);
        self.events.last_mut().expect("it was just added")
    }
}

/// Changes what one completion tells of one of its records.
fn lie(events: &mut [Event], (event, record, how, by): &Lie) {
    let told = |event: &&mut Event| {
        event.kind != EventKind::Invoke && matches!(event.value, EventValue::Ops(_))
    };
    let mut told: Vec<&mut Event> = events.iter_mut().filter(told).collect();
    if told.is_empty() {
        return;
    }
    let at = event.index(told.len());
    let EventValue::Ops(ops) = &mut told[at].value else { return };
    for op in ops {
        match op {
            MicroOp::Send { ack: Ack::At(offset), .. } => *offset = (*offset + by).max(0),
            MicroOp::Send { .. } => {}
            MicroOp::Poll { records: Some(keys) } => {
                for (_, read) in keys.iter_mut().filter(|(_, read)| !read.is_empty()) {
                    let at = record.index(read.len());
                    match how % 4 {
                        0 => drop(read.remove(at)),
                        1 => read[at].0 = read[at].0.map(|offset| (offset + by).max(0)),
                        2 => read[at].1 = (read[at].1 + by).max(0),
                        _ => read.swap(0, at),
                    }
                }
            }
            MicroOp::Poll { records: None } => {}
        }
    }
}

/// A manifest that promises the most, so that claims go by the order of time too.
fn manifest() -> Manifest {
    let text = r#"{"format":1,"run":"r","seed":1,"command":[],"commit":"c",
        "target":{"name":"node"},
        "timing":{"profile":"fast","session_ms":1,"heartbeat_ms":1,"lag_limit_ms":1},
        "workload":{"name":"log"},"clocks":{"wall_ns":0,"monotonic_ns":0},
        "machine":{"system":"s","cpus":2,"memory_bytes":1}}"#;
    serde_json::from_str(text).expect("a whole manifest")
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..KEYS, 1usize..4, any::<u8>(), prop::bool::weighted(0.9))
            .prop_map(|(key, records, ends, told)| Deed::Send { key, records, ends, told }),
        4 => (1usize..6, any::<u8>()).prop_map(|(records, ends)| Deed::Poll { records, ends }),
        1 => (any::<u8>(), 0usize..3).prop_map(|(ends, reads)| Deed::Txn { ends, reads }),
        1 => (any::<bool>(), any::<bool>())
            .prop_map(|(both, to_beginning)| Deed::Assign { both, to_beginning }),
    ]
}

fn broken() -> impl Strategy<Value = Vec<Event>> {
    let deeds = vec((0..PROCESSES, deed()), 4..40);
    let lies = vec(
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), -3i64..4),
        1..5,
    );
    (deeds, lies).prop_map(|(deeds, lies)| {
        let mut world = World::default();
        deeds.iter().for_each(|(process, deed)| world.act(*process, deed));
        lies.iter().for_each(|one| lie(&mut world.events, one));
        world.events
    })
}

/// Findings of one history that are looked at.
const EXPLAINED: usize = 12;

fn cases() -> u32 {
    std::env::var("EXPLAIN_CASES").map_or(300, |cases| cases.parse().expect("a number"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..Default::default()
    })]

    /// EXPLAIN_CASES says how many.
    #[test]
    fn explanations_are_enough_and_none_too_much(events in broken(), timed in any::<bool>()) {
        let evidence = || {
            let mut evidence = Evidence::of_events(events.clone());
            evidence.manifest = timed.then(manifest);
            (evidence, Options::default())
        };
        let mut faults = explain::faults_of(evidence, EXPLAINED);
        faults.extend(what_if::faults_of(&evidence));
        prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

/// What the histories above show: a generator that shows nothing would prove nothing.
#[test]
fn random_histories_show_most_of_what_a_history_can_show() {
    let mut runner = TestRunner::deterministic();
    let mut shown = BTreeSet::new();
    for nth in 0..400 {
        let events = broken().new_tree(&mut runner).expect("a history is made").current();
        let mut evidence = Evidence::of_events(events);
        evidence.manifest = (nth % 2 == 0).then(manifest);
        let verdict = check(&evidence, &Options::default()).expect("it is judged");
        shown.extend(verdict.numbered().map(|(.., finding)| finding.anomaly.clone()));
    }
    for anomaly in [
        "G1a",
        "duplicate",
        "inconsistent-offsets",
        "int-nonmonotonic-poll",
        "int-nonmonotonic-send",
        "int-poll-skip",
        "lost-write",
        "nonmonotonic-poll",
        "nonmonotonic-send",
        "phantom-read",
        "poll-skip",
        "read-of-the-future",
        "reread-mismatch",
        "reset-skip",
        "send-to-the-past",
        "torn-transaction",
        "unseen",
    ] {
        assert!(shown.contains(anomaly), "{anomaly} is not among {shown:?}");
    }
}
