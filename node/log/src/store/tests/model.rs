//! Random commands, crashes and restarts, against a list of batches searched from the front.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Bench, LOG, NOW_MS, tiny};
use crate::batch::{Batch, BatchBuilder, Batches, Codec};
use crate::disk::MemDisk;
use crate::producers::Producers;
use crate::store::{Command, Done, LogConfig, TimeQuery, TimedOffset};

#[derive(Clone, Debug)]
enum Step {
    /// Batches of so many records, each with timestamps from a base on, maybe in a new epoch.
    Append {
        batches: Vec<(usize, i64)>,
        codec: Codec,
        new_epoch: bool,
        producer: i64,
        sync: bool,
    },
    /// Cuts at this part (of 100) of the log.
    Truncate(i64),
    TruncateFully(i64),
    Sync,
    Checkpoint,
    CleanRestart,
    Kill,
    /// Keeps up to so many unsynced bytes of each file.
    PowerLoss(usize),
    Read {
        from: i64,
        upto: i64,
        max_bytes: usize,
    },
    Find(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let append = (
        vec((1usize..6, 0i64..1_000), 1..5),
        prop::sample::select(Codec::ALL.to_vec()),
        prop::bool::weighted(0.2),
        1i64..4,
        prop::bool::weighted(0.2),
    );
    let append = append.prop_map(|(batches, codec, new_epoch, producer, sync)| Step::Append {
        batches,
        codec,
        new_epoch,
        producer,
        sync,
    });
    let read = (0i64..=100, 0i64..=100, 0usize..2_000);
    prop_oneof![
        8 => append,
        2 => (0i64..=100).prop_map(Step::Truncate),
        1 => (0i64..50).prop_map(Step::TruncateFully),
        1 => Just(Step::Sync),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::CleanRestart),
        1 => Just(Step::Kill),
        1 => (0usize..400).prop_map(Step::PowerLoss),
        6 => read.prop_map(|(from, upto, max_bytes)| Step::Read { from, upto, max_bytes }),
        4 => (0i64..1_100).prop_map(Step::Find),
    ]
}

/// What the log must be, the slow way.
struct Model {
    start: i64,
    batches: Vec<Batch>,
    epoch: i32,
    /// Batches that a power loss must not take.
    durable: usize,
}

impl Model {
    fn end(&self) -> i64 {
        self.batches.last().map_or(self.start, |batch| batch.header().next_offset())
    }

    /// The offset at this part (of 100) of the log.
    fn at(&self, part: i64) -> i64 {
        self.start + (self.end() - self.start) * part / 100
    }

    fn bytes(&self, from: usize) -> Bytes {
        let run: Vec<u8> = self.batches[from..].iter().flat_map(|b| b.bytes().to_vec()).collect();
        run.into()
    }

    fn truncate(&mut self, to: i64) {
        self.batches.retain(|batch| batch.header().next_offset() <= to);
        self.durable = self.durable.min(self.batches.len());
    }

    fn epochs(&self) -> Vec<(i32, i64)> {
        let mut epochs: Vec<(i32, i64)> = Vec::new();
        for header in self.batches.iter().map(Batch::header) {
            if epochs.last().is_none_or(|(epoch, _)| *epoch < header.leader_epoch) {
                epochs.push((header.leader_epoch, header.base_offset));
            }
        }
        epochs
    }

    fn find(&self, timestamp: i64, upto: i64) -> Option<TimedOffset> {
        for batch in &self.batches {
            for record in batch.records(1 << 20).unwrap().map(Result::unwrap) {
                if record.timestamp >= timestamp && record.offset < upto {
                    return Some(TimedOffset {
                        timestamp: record.timestamp,
                        offset: record.offset,
                        leader_epoch: batch.header().leader_epoch,
                    });
                }
            }
        }
        None
    }

    fn read(&self, from: i64, upto: i64, max_bytes: usize) -> Vec<Batch> {
        let inside = |batch: &&Batch| {
            batch.header().last_offset() >= from && batch.header().base_offset < upto
        };
        let mut bytes = 0;
        let fits = |batch: &&Batch| {
            bytes += batch.bytes().len();
            bytes <= max_bytes || bytes == batch.bytes().len()
        };
        if from >= upto {
            return Vec::new();
        }
        self.batches.iter().filter(inside).take_while(fits).cloned().collect()
    }
}

struct World {
    bench: Bench,
    model: Model,
}

impl World {
    fn new() -> World {
        let model = Model { start: 0, batches: Vec::new(), epoch: 0, durable: 0 };
        World { bench: Bench::tiny(), model }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Append { batches, codec, new_epoch, producer, sync } => {
                self.model.epoch += i32::from(*new_epoch);
                self.append(batches, *codec, *producer, *sync);
            }
            Step::Truncate(part) => {
                let to = self.model.at(*part);
                self.model.truncate(to);
                let state = self.bench.truncate(to);
                assert_eq!(state.log_end, self.model.end());
                self.check_producers(&state.producers);
            }
            Step::TruncateFully(start) => {
                self.bench.run(Command::TruncateFully { log: LOG, start: *start }).unwrap();
                self.model = Model { start: *start, batches: vec![], durable: 0, ..self.model };
            }
            Step::Sync => {
                self.bench.run(Command::Sync { log: LOG }).unwrap();
                self.model.durable = self.model.batches.len();
            }
            Step::Checkpoint => {
                self.bench.run(Command::Checkpoint { high_watermarks: vec![] }).unwrap();
            }
            Step::CleanRestart => {
                self.bench.stop(self.model.start, None);
                self.restart(|_| {});
                self.model.durable = self.model.batches.len();
            }
            Step::Kill => {
                self.restart(|_| {});
                self.model.durable = self.model.batches.len();
            }
            Step::PowerLoss(kept) => self.lose_power(*kept),
            Step::Read { from, upto, max_bytes } => self.check_read(*from, *upto, *max_bytes),
            Step::Find(timestamp) => self.check_find(*timestamp),
        }
    }

    fn append(&mut self, batches: &[(usize, i64)], codec: Codec, producer: i64, sync: bool) {
        let first = self.model.batches.len();
        for (count, timestamp) in batches {
            let offset = self.model.end();
            let builder = BatchBuilder::new().codec(codec).place(offset, self.model.epoch);
            let mut builder = builder.producer(producer, 0, offset as i32);
            for at in 0..*count {
                builder.push(timestamp + at as i64 % 3, None, Some(b"a value"), &[]);
            }
            let mut bytes = builder.build();
            self.model.batches.push(Batch::split_from(&mut bytes).unwrap());
        }
        let batches = self.model.bytes(first);
        let done = self.bench.run(Command::Append { log: LOG, batches, sync }).unwrap();
        let Done::Appended { log_end, segment_start } = done else { panic!("{done:?}") };
        assert_eq!(log_end, self.model.end());
        assert!(segment_start < log_end, "the last batch is in the segment");
        if sync {
            self.model.durable = self.model.batches.len();
        }
    }

    fn restart(&mut self, damage: impl FnOnce(&mut MemDisk)) {
        let bench = std::mem::replace(&mut self.bench, Bench::tiny());
        let mut disk = bench.store.into_disk();
        damage(&mut disk);
        self.bench = Bench::new(disk, tiny());
    }

    /// Whole batches from the end may go, but none that was durable.
    fn lose_power(&mut self, kept: usize) {
        self.restart(|disk| disk.lose_power(|unsynced| unsynced.min(kept)));
        let state = self.bench.opened.state.clone();
        if self.model.batches.is_empty() || state.log_end < self.model.start {
            // A full truncation that was undone, or nothing was ever durable: begin anew.
            *self = World::new();
            return;
        }
        let survived = self.bench.read_all(state.log_start);
        let batches: Vec<Batch> = Batches::new(survived).map(Result::unwrap).collect();
        assert!(batches.len() >= self.model.durable, "durable batches are gone");
        // Without a cut since the last sync what is left is a prefix.
        if batches.len() <= self.model.batches.len() {
            let same = batches.iter().zip(&self.model.batches).take_while(|(a, b)| a == b).count();
            assert!(same >= self.model.durable, "durable batches are changed");
        }
        self.model.batches = batches;
        self.model.start = state.log_start;
        self.model.durable = self.model.batches.len();
    }

    fn check_read(&mut self, from: i64, upto: i64, max_bytes: usize) {
        let (from, upto) = (self.model.at(from), self.model.at(upto));
        let got = self.bench.read(from, upto, max_bytes);
        let got: Vec<Batch> = Batches::new(got).map(Result::unwrap).collect();
        let wanted = self.model.read(from, upto, max_bytes);
        // A read ends with its segment.
        assert!(wanted.starts_with(&got), "{got:?} is no prefix of {wanted:?}");
        assert_eq!(got.is_empty(), wanted.is_empty());
    }

    fn check_find(&mut self, timestamp: i64) {
        for upto in [self.model.end(), self.model.at(50)] {
            let query = TimeQuery::AtOrAfter(timestamp);
            let found = self.bench.run(Command::OffsetForTime { log: LOG, query, upto }).unwrap();
            assert_eq!(found, Done::TimedOffset(self.model.find(timestamp, upto)));
        }
    }

    fn check_producers(&self, producers: &[crate::store::ProducerEntry]) {
        let mut wanted = Producers::default();
        self.model.batches.iter().for_each(|batch| wanted.apply(batch));
        let last = |entry: &crate::store::ProducerEntry| {
            (entry.producer_id, entry.batches.last().copied())
        };
        let wanted: Vec<_> = wanted.entries().map(last).collect();
        assert_eq!(producers.iter().map(last).collect::<Vec<_>>(), wanted);
    }

    fn check_all(&mut self) {
        let (start, end) = (self.model.start, self.model.end());
        assert_eq!(self.bench.read_all(start), self.model.bytes(0));
        let state = self.bench.truncate(end);
        assert_eq!((state.log_start, state.log_end), (start, end));
        let epochs: Vec<(i32, i64)> =
            state.epochs.iter().map(|entry| (entry.epoch, entry.start_offset)).collect();
        assert_eq!(epochs, self.model.epochs());
        self.check_producers(&state.producers);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_store_is_a_list_of_batches(steps in vec(step(), 1..40)) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        world.check_all();
    }
}

#[test]
fn the_world_is_not_empty() {
    // Guards the test above against a generator that never fills more than one segment.
    let mut world = World::new();
    let batches = vec![(5, 100), (5, 50), (5, 200)];
    for _ in 0..5 {
        world.append(&batches, Codec::None, 1, false);
    }
    world.check_find(150);
    world.check_all();
    assert!(world.model.end() > 70 && NOW_MS > 0);
    assert_ne!(LogConfig::default(), tiny());
}
