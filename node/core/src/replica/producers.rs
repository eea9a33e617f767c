//! What a partition remembers of its idempotent producers (rules 41 to 45).

use std::collections::{BTreeMap, VecDeque};

use super::batch::{BatchMeta, ProducerStamp};
use super::error::ReplicaError;
use crate::rule::Rules;
use crate::types::{Offset, ProducerEpoch, ProducerId};

/// How many batches are remembered per producer (rule 42).
pub const REMEMBERED_BATCHES: usize = 5;

/// One remembered batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The sequence number of its first record.
    pub base_sequence: i32,
    /// The sequence number of its last record.
    pub last_sequence: i32,
    /// The offset of its first record.
    pub base_offset: Offset,
    /// The offset of its last record.
    pub last_offset: Offset,
    /// Its largest timestamp, in Unix milliseconds.
    pub timestamp_ms: i64,
}

/// One producer's state on one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerEntry {
    /// The newest epoch seen.
    pub epoch: ProducerEpoch,
    /// The last batches of that epoch, oldest first, at least one and at most five.
    pub batches: VecDeque<Remembered>,
    /// The largest timestamp of its last batch, in Unix milliseconds.
    pub last_timestamp_ms: i64,
}

/// All producers of a partition: a function of its log (rule 45).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Producers {
    entries: BTreeMap<ProducerId, ProducerEntry>,
}

impl ProducerEntry {
    /// The sequence number that must come next; after the largest `i32` comes 0.
    pub fn next_sequence(&self) -> i32 {
        let last = self.batches.back().map_or(-1, |b| b.last_sequence);
        if last == i32::MAX { 0 } else { last + 1 }
    }
}

impl Producers {
    /// The producers that a log held when it was opened or cut.
    pub fn new(entries: BTreeMap<ProducerId, ProducerEntry>) -> Producers {
        Producers { entries }
    }

    /// Each producer and its state, in order of the id.
    pub fn iter(&self) -> impl Iterator<Item = (&ProducerId, &ProducerEntry)> {
        self.entries.iter()
    }

    /// Decides on a client's batch: `Ok(None)` to append it, `Ok(Some)` when it repeats a
    /// remembered one (rules 41, 42, 44).
    pub fn check(
        &self,
        rules: &Rules,
        batch: &BatchMeta,
    ) -> Result<Option<Remembered>, ReplicaError> {
        let Some(stamp) = &batch.producer else { return Ok(None) };
        let entry = self.entries.get(&stamp.id);
        let repeat = entry.and_then(|entry| (rules.find_repeat)(entry, batch, stamp));
        if repeat.is_none() {
            (rules.check_sequence)(entry, stamp)?;
        }
        Ok(repeat)
    }

    /// Takes in a batch that was appended, as leader or as follower.
    pub fn appended(&mut self, batch: &BatchMeta) {
        let Some(stamp) = &batch.producer else { return };
        let entry = self.entries.entry(stamp.id).or_insert_with(|| ProducerEntry {
            epoch: stamp.epoch,
            batches: VecDeque::with_capacity(1),
            last_timestamp_ms: batch.max_timestamp_ms,
        });
        if entry.epoch != stamp.epoch {
            entry.epoch = stamp.epoch;
            entry.batches.clear();
        }
        if entry.batches.len() == REMEMBERED_BATCHES {
            entry.batches.pop_front();
        }
        entry.batches.push_back(remember(batch, stamp));
        entry.last_timestamp_ms = batch.max_timestamp_ms;
    }

    /// Forgets producers whose last batch is older than `limit_ms` (rule 44).
    pub fn expire(&mut self, now_unix_ms: i64, limit_ms: i64) {
        self.entries.retain(|_, e| now_unix_ms.saturating_sub(e.last_timestamp_ms) < limit_ms);
    }
}

fn remember(batch: &BatchMeta, stamp: &ProducerStamp) -> Remembered {
    Remembered {
        base_sequence: stamp.base_sequence,
        last_sequence: batch.last_sequence(stamp),
        base_offset: batch.base_offset,
        last_offset: batch.last_offset,
        timestamp_ms: batch.max_timestamp_ms,
    }
}
