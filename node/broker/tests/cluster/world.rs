//! The cluster, its network and its clock: takes the next event and sees what comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};

use highwater_node_core::rule::Rules;
use highwater_node_core::types::{PartitionId, Time};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::checks::{Checked, Checks};
use super::faults::Fault;
use super::host::{BROKERS, CONTROLLER, Host};
use super::net::{Net, PipeId, Place, Side};
use super::seats::Seat;

/// When a run begins: the clock counts from 1970.
pub const BEGIN: Time = Time(1_700_000_000_000_000_000);
/// Nanoseconds in a microsecond.
pub const MICRO: u64 = 1_000;

/// Something that happens at its time.
pub enum Event {
    Deliver { pipe: PipeId, to: Side },
    Disk { place: Place, run: u64 },
    Wake { place: Place, run: u64, at: Time },
    Client { index: usize, serial: u64 },
    Timeout { index: usize, serial: u64 },
    Fault(Fault),
}

pub struct World {
    pub now: Time,
    pub rng: ChaCha8Rng,
    pub hosts: BTreeMap<Place, Host>,
    pub net: Net,
    pub seats: Vec<Seat>,
    pub checks: Checks,
    pub topic_ready: bool,
    pub faults_over: bool,
    pub rules: Rules,
    pub seed: u64,
    queue: BTreeMap<(Time, u64), Event>,
    pub next_serial: u64,
    pub trace: DefaultHasher,
    pub partitions: BTreeSet<PartitionId>,
}

impl World {
    pub fn new(seed: u64, rules: Rules) -> World {
        let places = BROKERS.into_iter().chain([CONTROLLER]);
        let mut world = World {
            now: BEGIN,
            rng: ChaCha8Rng::seed_from_u64(seed),
            hosts: places.map(|place| (place, Host::new(place))).collect(),
            net: Net::default(),
            seats: Vec::new(),
            checks: Checks::default(),
            topic_ready: false,
            faults_over: false,
            rules,
            seed,
            queue: BTreeMap::new(),
            next_serial: 0,
            trace: DefaultHasher::new(),
            partitions: BTreeSet::new(),
        };
        for place in [CONTROLLER].into_iter().chain(BROKERS) {
            world.schedule_ms(0, Event::Fault(Fault::Start(place)));
        }
        world
    }

    /// A number that two runs of one seed share: it follows from all that happened.
    pub fn trace_number(&self) -> u64 {
        self.trace.finish()
    }

    pub fn schedule_ms(&mut self, ms: u64, event: Event) {
        let at = self.now.plus_ms(ms);
        self.schedule(at, event);
    }

    pub fn schedule(&mut self, at: Time, event: Event) {
        self.next_serial += 1;
        self.queue.insert((at, self.next_serial), event);
    }

    /// Takes the next event.
    pub fn advance(&mut self) -> Checked {
        let ((at, _), event) = self.queue.pop_first().ok_or("nothing happens any more")?;
        self.now = at;
        match event {
            Event::Deliver { pipe, to } => self.deliver(pipe, to),
            Event::Disk { place, run } => self.run_disk(place, run),
            Event::Wake { place, run, at } => self.wake(place, run, at),
            Event::Client { index, serial } => self.wake_client(index, serial),
            Event::Timeout { index, serial } => self.time_out(index, serial),
            Event::Fault(fault) => self.strike(fault),
        }
    }
}
