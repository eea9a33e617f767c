//! Producing seats that append values of their own, and consuming seats that tail and re-read: what
//! workloads on replicated logs are made of.

use std::{collections::BTreeMap, time::Duration};

use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use crate::{
    Catalog, Completion, Key, Op, Settings, Time,
    op::{Gave, code},
    random::stream,
    workload::{Generator, Planned, Seat, Start},
};

/// Batches of more than one record show order and atomicity within a batch.
const MAX_RECORDS: i64 = 3;
/// Sends of more than one record, in percent.
const SEVERAL_PERCENT: u32 = 10;
/// Polls of a re-reading consumer before it first returns to the beginning.
const REREAD_POLLS: std::ops::Range<u32> = 60..200;
/// The most polls between two returns.
const REREAD_POLLS_MAX: u32 = 1 << 20;

/// The seats' state: one independent stream each.
pub struct Appenders {
    producing: Vec<Producing>,
    consuming: Vec<Consuming>,
}

struct Producing {
    rng: ChaCha8Rng,
    seat: u32,
    keys: Vec<Key>,
    counters: BTreeMap<Key, i64>,
    planned: u64,
    phase: Duration,
    period: Duration,
}

struct Consuming {
    rng: ChaCha8Rng,
    keys: Vec<Key>,
    rereads: bool,
    assigned: bool,
    polls_left: u32,
    returns: u32,
    planned: u64,
    period: Duration,
}

impl Appenders {
    /// One producing seat for each list of keys, which it draws from; `name` names their streams.
    pub fn new(
        name: &str,
        settings: &Settings,
        catalog: &Catalog,
        producers: Vec<Vec<Key>>,
        seed: u64,
    ) -> Appenders {
        let seats = producers.len() as u32;
        let period = period_of(settings.rate) * seats;
        let producing = (0..)
            .zip(producers)
            .map(|(seat, keys)| Producing {
                rng: stream(seed, &format!("workload/{name}/producer/{seat}")),
                seat,
                keys,
                counters: BTreeMap::new(),
                planned: 0,
                phase: period * seat / seats,
                period,
            })
            .collect();
        let consuming = (0..settings.consumers)
            .map(|nth| Consuming {
                rng: stream(seed, &format!("workload/{name}/consumer/{nth}")),
                keys: catalog.keys().collect(),
                rereads: nth % 3 == 2,
                assigned: false,
                polls_left: 0,
                returns: 0,
                planned: 0,
                period: period_of(settings.poll_rate),
            })
            .collect();
        Appenders { producing, consuming }
    }
}

fn period_of(per_second: u32) -> Duration {
    if per_second == 0 { Duration::ZERO } else { Duration::from_secs(1) / per_second }
}

impl Generator for Appenders {
    fn next(&mut self, seat: Seat) -> Planned {
        let at = seat.0 as usize;
        match self.producing.get_mut(at) {
            Some(_) => {
                let seats = self.producing.len() as i64;
                self.producing[at].next(seats)
            }
            None => self.consuming[at - self.producing.len()].next(),
        }
    }

    fn observe(&mut self, seat: Seat, completion: &Completion) {
        let Gave::Polled { errors, .. } = &completion.gave else { return };
        // What was read is gone from here on (truncated or deleted): begin again, in the open.
        if errors.iter().any(|(_, code)| *code == code::OFFSET_OUT_OF_RANGE) {
            self.reset(seat);
        }
    }

    fn reset(&mut self, seat: Seat) {
        let at = seat.0 as usize;
        // A producer's counters go on: its next client must not repeat a value.
        if let Some(consuming) = at.checked_sub(self.producing.len()) {
            self.consuming[consuming].assigned = false;
        }
    }
}

impl Producing {
    fn next(&mut self, seats: i64) -> Planned {
        let key = *self.keys.choose(&mut self.rng).expect("a producing seat has a key");
        let several = self.rng.random_range(0..100) < SEVERAL_PERCENT;
        let count: i64 = if several { self.rng.random_range(2..=MAX_RECORDS) } else { 1 };
        let counter = self.counters.entry(key).or_default();
        let values = (0..count).map(|nth| (*counter + nth) * seats + i64::from(self.seat));
        let values = values.collect();
        *counter += count;
        let at = Time::ZERO + self.phase + self.period * self.planned as u32;
        let start = if self.period.is_zero() { Start::NotBefore(at) } else { Start::At(at) };
        self.planned += 1;
        Planned { start, op: Op::Send { key, values } }
    }
}

impl Consuming {
    /// Half as many again each time: however long a run lasts, what is read again stays within a
    /// few times what was sent.
    fn polls_until_return(&mut self) -> u32 {
        let first = f64::from(self.rng.random_range(REREAD_POLLS));
        let polls = first * 1.5f64.powi(self.returns as i32);
        self.returns += 1;
        polls.min(f64::from(REREAD_POLLS_MAX)) as u32
    }

    fn next(&mut self) -> Planned {
        let start = Start::NotBefore(Time::ZERO + self.period * self.planned as u32);
        self.planned += 1;
        let over = self.rereads && self.polls_left == 0;
        if self.assigned && !over {
            self.polls_left = self.polls_left.saturating_sub(1);
            return Planned { start, op: Op::Poll };
        }
        let seek_to_beginning = !self.assigned || over;
        self.assigned = true;
        self.polls_left = self.polls_until_return();
        Planned { start, op: Op::Assign { keys: self.keys.clone(), seek_to_beginning } }
    }
}
