//! Producers that append to a replicated log at mixed acks, consumers that tail and re-read it.

use std::{collections::BTreeMap, time::Duration};

use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::{Entry, Floor, Generator, Planned, Role, Seat, Start};
use crate::{
    Acks, Catalog, Completion, Key, Op, Settings, Time, op::Gave, random::stream,
    settings::AcksMode, topic::TopicPlan,
};

/// This workload.
pub static ENTRY: Entry = Entry {
    claims: &[
        "corrupt-payload",
        "divergence",
        "duplicate",
        "early-ack",
        "epoch-regression",
        "failed-yet-visible",
        "idempotence-broken",
        "inconsistent-offsets",
        "isr-illegal",
        "lineage",
        "lost-write",
        "metadata-divergence",
        "nonmonotonic-poll",
        "nonmonotonic-send",
        "not-recovered",
        "phantom-read",
        "producer-id-reuse",
        "split-brain-write",
        "unseen",
        "watermark-order",
        "watermark-regression",
        "watermark-stuck",
    ],
    floors,
    topics,
    seats,
    generator: |settings, catalog, seed| Box::new(Log::new(settings, catalog, seed)),
};

/// Batches of more than one record show order and atomicity within a batch.
const MAX_RECORDS: i64 = 3;
/// Sends of more than one record, in percent.
const SEVERAL_PERCENT: u32 = 10;
/// Polls of a re-reading consumer between two returns to the beginning.
const REREAD_POLLS: std::ops::Range<u32> = 60..200;

fn floors(settings: &Settings) -> Vec<Floor> {
    let mut floors = vec![Floor { name: "ok-read", wanted: 1 }];
    for acks in settings.acks.levels() {
        floors.push(match acks {
            Acks::All => Floor { name: "acknowledged.all", wanted: 1 },
            Acks::One => Floor { name: "acknowledged.1", wanted: 1 },
            Acks::Zero => Floor { name: "sent.0", wanted: 1 },
        });
    }
    floors
}

fn topics(settings: &Settings) -> Vec<TopicPlan> {
    let levels = settings.acks.levels();
    (0..settings.topics as usize)
        .map(|nth| {
            let acks = levels[nth % levels.len()];
            let round = nth / levels.len();
            let several = settings.topics as usize > levels.len();
            let suffix = if several { format!("{}", round + 1) } else { String::new() };
            let label = format!("{}{suffix}", level_label(acks));
            TopicPlan { label, partitions: settings.partitions, acks }
        })
        .collect()
}

fn level_label(acks: Acks) -> &'static str {
    match acks {
        Acks::All => "all",
        Acks::One => "one",
        Acks::Zero => "zero",
    }
}

fn seats(settings: &Settings) -> Vec<Role> {
    let level = |nth: u32| match settings.acks {
        AcksMode::Only(acks) => acks,
        AcksMode::Mix => [Acks::All, Acks::One, Acks::Zero, Acks::All][nth as usize % 4],
    };
    let producers = (0..settings.producers).map(|nth| Role::Producer(level(nth)));
    producers.chain((0..settings.consumers).map(|_| Role::Consumer)).collect()
}

/// The generator's state: one independent stream a seat.
struct Log {
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
    planned: u64,
    period: Duration,
}

impl Log {
    fn new(settings: &Settings, catalog: &Catalog, seed: u64) -> Log {
        let producers = settings.producers;
        let period = period_of(settings.rate) * producers;
        let producing = seats(settings)
            .into_iter()
            .zip(0u32..)
            .filter_map(|(role, seat)| match role {
                Role::Producer(acks) => Some((acks, seat)),
                Role::Consumer => None,
            })
            .map(|(acks, seat)| Producing {
                rng: stream(seed, &format!("workload/log/producer/{seat}")),
                seat,
                keys: catalog.keys_at(acks),
                counters: BTreeMap::new(),
                planned: 0,
                phase: period * seat / producers,
                period,
            })
            .collect();
        let consuming = (0..settings.consumers)
            .map(|nth| Consuming {
                rng: stream(seed, &format!("workload/log/consumer/{nth}")),
                keys: catalog.keys().collect(),
                rereads: nth % 3 == 2,
                assigned: false,
                polls_left: 0,
                planned: 0,
                period: period_of(settings.poll_rate),
            })
            .collect();
        Log { producing, consuming }
    }
}

fn period_of(per_second: u32) -> Duration {
    if per_second == 0 { Duration::ZERO } else { Duration::from_secs(1) / per_second }
}

impl Generator for Log {
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
        if errors.iter().any(|(_, code)| *code == "OFFSET_OUT_OF_RANGE") {
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
        let key = *self.keys.choose(&mut self.rng).expect("every acks level has a topic");
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
        self.polls_left = self.rng.random_range(REREAD_POLLS);
        Planned { start, op: Op::Assign { keys: self.keys.clone(), seek_to_beginning } }
    }
}

#[cfg(test)]
mod tests {
    use super::{Acks, AcksMode, Role, Settings, seats};

    #[test]
    fn as_few_producers_as_levels_serve_every_level() {
        let settings = Settings { acks: AcksMode::Mix, producers: 3, ..Settings::default() };
        settings.validate().unwrap();
        let seats = seats(&settings);
        for acks in [Acks::All, Acks::One, Acks::Zero] {
            assert!(seats.contains(&Role::Producer(acks)), "{acks:?}");
        }
    }
}
