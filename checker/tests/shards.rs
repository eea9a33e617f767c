//! A history that is judged by parts gets the verdict that one process gives it, to the byte.

mod parts;

use std::{collections::BTreeMap, fs, path::Path};

use highwater_checker::{Evidence, Options, evidence::Instead};
use highwater_history::{
    Event, EventValue, Key, Offset,
    event::{Ack, EventKind, Function, MicroOp, Process, ReadRecord},
};
use parts::agrees;
use proptest::{collection::vec, prelude::*};

#[test]
fn every_real_run_gets_its_verdict_by_parts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
    for run in fs::read_dir(folder).expect("the corpus can be listed") {
        let run = run.expect("an entry").path();
        let evidence = Evidence::load(&run, &Instead::default()).expect("a run folder");
        agrees(&evidence, &Options::default())
            .unwrap_or_else(|why| panic!("{}: {why}", run.display()));
    }
}

/// What a client does, and what comes of it.
#[derive(Clone, Debug)]
struct Step {
    process: u64,
    f: Function,
    ending: EventKind,
    /// Whether others go on before it ends.
    lasts: bool,
    micros: Vec<Micro>,
}

#[derive(Clone, Debug)]
struct Micro {
    sends: bool,
    key: usize,
    offset: Offset,
    /// Which of the values sent so far is read.
    nth: usize,
    /// Whether the last value is sent again, which leaves the history unfit.
    again: bool,
}

fn micro() -> impl Strategy<Value = Micro> {
    let again = prop::bool::weighted(0.005);
    (any::<bool>(), 0usize..5, 0i64..12, 0usize..40, again)
        .prop_map(|(sends, key, offset, nth, again)| Micro { sends, key, offset, nth, again })
}

fn step() -> impl Strategy<Value = Step> {
    let f = prop_oneof![
        6 => Just(Function::Txn),
        1 => Just(Function::Assign),
        1 => Just(Function::Subscribe),
        1 => Just(Function::Commit),
    ];
    let ending = prop_oneof![
        4 => Just(EventKind::Ok),
        1 => Just(EventKind::Fail),
        2 => Just(EventKind::Info),
    ];
    (0u64..4, f, ending, any::<bool>(), vec(micro(), 1..5))
        .prop_map(|(process, f, ending, lasts, micros)| Step { process, f, ending, lasts, micros })
}

/// Turns steps into a history; most are broken in some way.
#[derive(Default)]
struct History {
    events: Vec<Event>,
    pending: BTreeMap<u64, Event>,
    sent: i64,
    /// The last value that was sent to each key.
    last: BTreeMap<usize, i64>,
}

impl History {
    fn of(steps: &[Step]) -> Vec<Event> {
        let mut history = Self::default();
        for step in steps {
            if let Some(before) = history.pending.remove(&step.process) {
                history.push(before);
            }
            let (asked, got) = history.values(step);
            let event = |kind, value| {
                let mut event = Event::new(0, Process::Client(step.process), kind, step.f.clone());
                event.extra.insert("group".to_owned(), "g".into());
                let keys = step.micros.iter().map(|micro| format!("k{}", micro.offset % 4));
                event.extra.insert("record_keys".to_owned(), keys.collect());
                event.with_value(value)
            };
            history.push(event(EventKind::Invoke, asked));
            let done = event(step.ending, got);
            if step.lasts {
                history.pending.insert(step.process, done);
            } else {
                history.push(done);
            }
        }
        history.events
    }

    fn push(&mut self, mut event: Event) {
        event.index = self.events.len() as u64;
        event.time = event.index * 1_000;
        self.events.push(event);
    }

    fn values(&mut self, step: &Step) -> (EventValue, EventValue) {
        let key = |micro: &Micro| Key::from(format!("t-{}", micro.key));
        match step.f {
            Function::Assign | Function::Subscribe => {
                let keys = EventValue::Keys(step.micros.iter().map(key).collect());
                (keys.clone(), keys)
            }
            Function::Commit => {
                let offsets = step.micros.iter().map(|micro| (key(micro), micro.offset));
                let offsets = EventValue::Offsets(offsets.collect());
                (offsets.clone(), offsets)
            }
            _ => {
                let micros = step.micros.iter().map(|micro| self.micro(key(micro), micro));
                let (asked, got): (Vec<_>, Vec<_>) = micros.unzip();
                (EventValue::Ops(asked), EventValue::Ops(got))
            }
        }
    }

    fn micro(&mut self, key: Key, micro: &Micro) -> (MicroOp, MicroOp) {
        let known = micro.nth as i64 % (self.sent + 1);
        if !micro.sends {
            let next = ReadRecord(Some(micro.offset + 1), known + 1);
            let records = vec![ReadRecord(Some(micro.offset), known), next];
            let got = MicroOp::Poll { records: Some(vec![(key, records)]) };
            return (MicroOp::Poll { records: None }, got);
        }
        self.sent += 1;
        let last = self.last.insert(micro.key, self.sent);
        let value = last.filter(|_| micro.again).unwrap_or(self.sent);
        let sent = |ack| MicroOp::Send { key: key.clone(), value, ack };
        (sent(Ack::None), sent(Ack::At(micro.offset)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_history_of_any_shape_gets_its_verdict_by_parts(steps in vec(step(), 0..40)) {
        let evidence = Evidence::of_events(History::of(&steps));
        agrees(&evidence, &Options::default()).map_err(TestCaseError::fail)?;
    }
}
