//! Valid histories of a model log stay valid; anomalies put into them are counted exactly.

use std::collections::BTreeMap;

use highwater_checker::{Evidence, Options, check};
use highwater_history::{
    Event, EventValue, Key, Offset, Value, Verdict,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
    verdict::Validity,
};
use proptest::{collection::vec, prelude::*, sample::Index};

/// A send of the model: which key, which process, how it ends, how many offsets lie before it.
type Send = (usize, u64, Ends, i64);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Ok,
    Fail,
    /// Unknown, and in the log.
    InfoKept,
    /// Unknown, and not in the log.
    InfoGone,
}

/// A model log of several keys and the history that clients saw of it.
#[derive(Default)]
struct World {
    events: Vec<Event>,
    logs: BTreeMap<Key, Vec<(Offset, Value)>>,
    acked: Vec<(Key, Offset, Value)>,
    failed: Vec<(Key, Value)>,
    next_value: Value,
    next_process: u64,
}

impl World {
    fn of(sends: &[Send]) -> Self {
        let mut world = Self { next_process: 100, ..Self::default() };
        for (nth, send) in sends.iter().enumerate() {
            world.send(*send);
            if nth % 7 == 6 {
                world.read(50 + nth as u64, 3);
            }
        }
        // Something is always acknowledged, so that a history without anomalies is valid.
        world.send((0, 0, Ends::Ok, 0));
        world
    }

    fn push(&mut self, process: u64, kind: EventKind, f: Function, ops: Vec<MicroOp>) {
        let index = self.events.len() as u64;
        let mut event = Event::new(index, Process::Client(process), kind, f);
        event.index = index;
        self.events.push(event.with_value(EventValue::Ops(ops)));
    }

    fn send(&mut self, (key, process, ends, gap): Send) {
        let key = Key::of("t", key as i32);
        let value = self.next_value;
        self.next_value += 1;
        let log = self.logs.entry(key.clone()).or_default();
        let offset = log.last().map_or(0, |(last, _)| last + 1) + gap;
        if matches!(ends, Ends::Ok | Ends::InfoKept) {
            log.push((offset, value));
        }
        let (kind, ack) = match ends {
            Ends::Ok => (EventKind::Ok, Ack::At(offset)),
            Ends::Fail => (EventKind::Fail, Ack::None),
            Ends::InfoKept | Ends::InfoGone => (EventKind::Info, Ack::None),
        };
        match ends {
            Ends::Ok => self.acked.push((key.clone(), offset, value)),
            Ends::Fail => self.failed.push((key.clone(), value)),
            Ends::InfoKept | Ends::InfoGone => {}
        }
        let op = |ack| vec![MicroOp::Send { key: key.clone(), value, ack }];
        self.push(process, EventKind::Invoke, Function::Send, op(Ack::None));
        self.push(process, kind, Function::Send, op(ack));
    }

    /// A new process reads every key from the start, in polls of so many records.
    fn read(&mut self, process: u64, chunk: usize) {
        for (key, log) in self.logs.clone() {
            for records in log.chunks(chunk) {
                let read = records.iter().map(|(at, value)| ReadRecord(Some(*at), *value));
                let records = Some(vec![(key.clone(), read.collect())]);
                self.push(process, EventKind::Invoke, Function::Poll, vec![]);
                let ops = vec![MicroOp::Poll { records }];
                self.push(process, EventKind::Ok, Function::Poll, ops);
            }
        }
    }

    fn judge(mut self) -> Verdict {
        self.read(1000, 5);
        let process = self.next_process + 1000;
        self.read(process, 1000);
        check(&Evidence::of_events(self.events), &Options::default()).expect("it is judged")
    }

    fn end(&self, key: &Key) -> Offset {
        self.logs[key].last().map_or(0, |(last, _)| last + 1)
    }
}

/// Distinct acknowledged records that still have something behind them in their log.
fn victims(world: &World, picks: &[Index]) -> Vec<(Key, Offset, Value)> {
    let inner: Vec<_> = world
        .acked
        .iter()
        .filter(|(key, offset, _)| offset + 1 < world.end(key))
        .cloned()
        .collect();
    if inner.is_empty() {
        return Vec::new();
    }
    let mut victims: Vec<_> = picks.iter().map(|pick| pick.get(&inner).clone()).collect();
    victims.sort();
    victims.dedup();
    victims
}

fn count(verdict: &Verdict, name: &str) -> usize {
    verdict.anomalies.get(name).copied().unwrap_or(0) as usize
}

fn any_send() -> impl Strategy<Value = Send> {
    let ends = prop_oneof![
        6 => Just(Ends::Ok), 1 => Just(Ends::Fail), 1 => Just(Ends::InfoKept),
        1 => Just(Ends::InfoGone),
    ];
    (0..3usize, 0..5u64, ends, prop_oneof![5 => Just(0i64), 1 => 1..40i64])
}

fn sends() -> impl Strategy<Value = Vec<Send>> {
    vec(any_send(), 0..60)
}

fn picks() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 1..5)
}

proptest! {
    #[test]
    fn what_a_right_log_shows_is_valid(sends in sends()) {
        let verdict = World::of(&sends).judge();
        prop_assert_eq!(verdict.verdict, Validity::Valid, "{}", verdict.reason);
    }

    /// Records vanish before anybody reads them: readers are all of the end.
    #[test]
    fn lost_records_are_counted(sends in sends(), picks in picks()) {
        let mut world = World::of(&sends);
        world.events.retain(|event| event.f == Function::Send);
        renumber(&mut world.events);
        let victims = victims(&world, &picks);
        for (key, offset, _) in &victims {
            world.logs.get_mut(key).expect("a key").retain(|(at, _)| at != offset);
        }
        let verdict = world.judge();
        prop_assert_eq!(count(&verdict, "lost-write"), victims.len());
        prop_assert_eq!(count(&verdict, "unseen"), victims.len());
    }

    #[test]
    fn duplicates_are_counted(sends in sends(), picks in picks()) {
        let mut world = World::of(&sends);
        let victims = victims(&world, &picks);
        for (key, _, value) in &victims {
            let end = world.end(key);
            world.logs.get_mut(key).expect("a key").push((end, *value));
        }
        let verdict = world.judge();
        prop_assert_eq!(count(&verdict, "duplicate"), victims.len());
        prop_assert_eq!(verdict.anomalies.len(), usize::from(!victims.is_empty()));
    }

    #[test]
    fn phantoms_are_counted(sends in sends(), n in 1..5i64) {
        let mut world = World::of(&sends);
        let key = Key::of("t", 0);
        for nth in 0..n {
            let end = world.end(&key);
            world.logs.get_mut(&key).expect("a key").push((end, 1_000_000 + nth));
        }
        let verdict = world.judge();
        prop_assert_eq!(count(&verdict, "phantom-read"), n as usize);
        prop_assert_eq!(verdict.anomalies.len(), 1);
    }

    #[test]
    fn failed_records_that_show_are_counted(sends in sends()) {
        let mut world = World::of(&sends);
        let failed = world.failed.clone();
        for (key, value) in &failed {
            let log = world.logs.entry(key.clone()).or_default();
            let end = log.last().map_or(0, |(last, _)| last + 1);
            log.push((end, *value));
        }
        let verdict = world.judge();
        prop_assert_eq!(count(&verdict, "G1a"), failed.len());
        prop_assert_eq!(verdict.anomalies.len(), usize::from(!failed.is_empty()));
    }

    /// One reader sees another record at an offset; that record was sent and is unknown.
    #[test]
    fn conflicts_are_counted(sends in sends(), picks in picks()) {
        let mut world = World::of(&sends);
        let victims = victims(&world, &picks);
        for (key, offset, _) in &victims {
            let (_, partition) = key.rsplit_once('-').expect("a key");
            let partition = partition.parse().expect("a number");
            world.next_process += 1;
            let value = world.next_value;
            world.send((partition, world.next_process, Ends::InfoGone, 0));
            world.next_process += 1;
            let records = Some(vec![(key.clone(), vec![ReadRecord(Some(*offset), value)])]);
            let process = world.next_process;
            world.push(process, EventKind::Invoke, Function::Poll, vec![]);
            world.push(process, EventKind::Ok, Function::Poll, vec![MicroOp::Poll { records }]);
        }
        let verdict = world.judge();
        prop_assert_eq!(count(&verdict, "inconsistent-offsets"), victims.len());
        prop_assert_eq!(verdict.anomalies.len(), usize::from(!victims.is_empty()));
    }

    /// A history cut at any event is judged, and never found broken when it was not.
    #[test]
    fn a_history_cut_anywhere_is_not_accused(sends in sends(), cut in any::<Index>()) {
        let mut world = World::of(&sends);
        world.read(1000, 2);
        let at = cut.index(world.events.len());
        world.events.truncate(at);
        let evidence = Evidence::of_events(world.events);
        let verdict = check(&evidence, &Options::default()).expect("it is judged");
        let broken = verdict.anomalies.keys().any(|name| name != "unseen");
        prop_assert!(!broken, "{}", verdict.reason);
    }
}

fn renumber(events: &mut [Event]) {
    for (nth, event) in events.iter_mut().enumerate() {
        event.index = nth as u64;
        event.time = nth as u64;
    }
}
