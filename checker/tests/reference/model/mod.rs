//! A model of correct logs and of clients that use them at once, one small history a seed.

mod client;
mod complete;
mod invoke;
mod log;
mod shape;
mod step;

use std::collections::BTreeMap;

use highwater_history::{
    Event, EventValue, Key, Value,
    event::{EventKind, Function, MicroOp, Process, ReadRecord},
};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

pub use self::shape::chance;
use self::{client::Client, log::Log, shape::Shape};

/// The model while it runs.
struct World {
    rng: ChaCha8Rng,
    shape: Shape,
    events: Vec<Event>,
    time: u64,
    logs: BTreeMap<Key, Log>,
    clients: Vec<Client>,
    /// Records of processes that are gone, which may still land.
    late: Vec<(Key, Value)>,
    next_process: u64,
    next_transaction: u64,
    next_value: BTreeMap<Key, Value>,
}

/// A history that correct logs gave. A closed one ends with readers of everything.
pub fn history(seed: u64, closed: bool) -> Vec<Event> {
    let mut world = World::new(seed);
    world.run();
    if closed {
        world.read_all();
    }
    world.events
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let shape = Shape::of(&mut rng);
        let processes = shape.processes as u64;
        let logs = (0..shape.keys).map(|nth| (Key::of("t", nth), Log::default())).collect();
        Self {
            rng,
            shape,
            events: Vec::new(),
            time: 0,
            logs,
            clients: (0..processes).map(Client::new).collect(),
            late: Vec::new(),
            next_process: processes,
            next_transaction: 0,
            next_value: BTreeMap::new(),
        }
    }

    /// Begins operations, lets them take steps in any order, and ends them, until all are done.
    fn run(&mut self) {
        let mut to_begin = self.shape.operations;
        while to_begin > 0 || self.clients.iter().any(|client| client.pending.is_some()) {
            self.land_late();
            self.speak();
            let nth = self.rng.random_range(0..self.clients.len());
            match &self.clients[nth].pending {
                None if to_begin > 0 => {
                    to_begin -= 1;
                    self.invoke(nth);
                }
                None => {}
                Some(pending) if pending.steps.is_empty() => self.complete(nth),
                Some(_) => self.step(nth),
            }
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        chance(&mut self.rng, percent)
    }

    fn any_key(&mut self) -> Key {
        let keys: Vec<_> = self.logs.keys().cloned().collect();
        keys.choose(&mut self.rng).expect("there is a key").clone()
    }

    /// Some or none of the keys.
    fn some_keys(&mut self) -> Vec<Key> {
        let keys: Vec<_> = self.logs.keys().cloned().collect();
        keys.into_iter().filter(|_| self.chance(60)).collect()
    }

    fn gap(&mut self) -> i64 {
        if !self.chance(self.shape.gaps) {
            return 0;
        }
        [1, 2, 3, 1000].choose(&mut self.rng).copied().expect("there are gaps")
    }

    /// Lands a record of a process that is gone, in the order in which they were sent.
    fn land_late(&mut self) {
        if !self.late.is_empty() && self.chance(20) {
            let (key, value) = self.late.remove(0);
            let gap = self.gap();
            self.log(&key).append(value, None, gap);
        }
    }

    /// The nemesis says something now and then: no operation.
    fn speak(&mut self) {
        if self.chance(self.shape.faults) {
            let kill = Function::Other("kill".into());
            self.push(Event::new(0, Process::Nemesis, EventKind::Info, kill));
        }
    }

    fn log(&mut self, key: &Key) -> &mut Log {
        self.logs.get_mut(key).expect("a key has a log")
    }

    fn push(&mut self, mut event: Event) {
        event.index = self.events.len() as u64;
        self.time += if self.chance(5) { 0 } else { self.rng.random_range(1..1000) };
        event.time = self.time;
        self.events.push(event);
    }

    /// A new process reads every key from its beginning to its end.
    fn read_all(&mut self) {
        let process = self.next_process;
        let most = self.rng.random_range(1..6);
        let keys: Vec<_> = self.logs.keys().cloned().collect();
        self.pair(process, Function::Assign, EventValue::Keys(keys.clone()), None);
        for key in keys {
            let visible = self.logs[&key].visible(0);
            for some in visible.chunks(most) {
                let records = some.iter().map(|(at, value)| ReadRecord(Some(*at), *value));
                let records = Some(vec![(key.clone(), records.collect())]);
                let asked = EventValue::Ops(vec![MicroOp::Poll { records: None }]);
                let got = EventValue::Ops(vec![MicroOp::Poll { records }]);
                self.pair(process, Function::Poll, asked, Some(got));
            }
        }
    }

    /// An invocation and its ok.
    fn pair(&mut self, process: u64, f: Function, asked: EventValue, got: Option<EventValue>) {
        let got = got.unwrap_or_else(|| asked.clone());
        for (kind, value) in [(EventKind::Invoke, asked), (EventKind::Ok, got)] {
            let event = Event::new(0, Process::Client(process), kind, f.clone());
            self.push(event.with_value(value));
        }
    }
}
