//! The log of a VerifiableConsumer: polls, what it was assigned, what it committed.
//!
//! One thread prints all lines: whatever it does began after the line before.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use smol_str::SmolStr;

use super::line::{Committed, Consumed, LogReader, Partition, Said};
use crate::{
    format::FormatError,
    types::{Key, Offset},
    unique::TWICE,
};

/// How many partitions the assignments of a log may name in all.
const MOST_NAMED: usize = 4_000_000;

/// What one log tells.
#[derive(Debug)]
pub(super) struct Consumer {
    pub file: PathBuf,
    pub did: Vec<Did>,
    /// Records of which it tells only how many they were.
    pub untold: u64,
    /// Offsets that one assignment read from and to, by key.
    pub spans: Vec<(Key, Offset, Offset)>,
}

/// One thing that it did, and when.
#[derive(Debug)]
pub(super) struct Did {
    pub began: u64,
    pub ended: u64,
    pub what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// Keys that replace the current ones.
    Assign(Vec<Key>),
    Poll(Vec<Read>),
    /// Offsets, and why they were not taken.
    Commit(Vec<(Key, Offset)>, Option<String>),
}

/// One record that a poll returned.
#[derive(Debug)]
pub(super) struct Read {
    pub line: u64,
    pub key: Key,
    pub topic: SmolStr,
    pub offset: Offset,
    pub value: Option<SmolStr>,
}

/// What gathers as a log is read.
#[derive(Debug, Default)]
pub(super) struct ConsumerLog {
    did: Vec<Did>,
    /// When the line before was printed.
    before: u64,
    assigned: BTreeSet<Key>,
    /// How many partitions all assignments name, together.
    named: usize,
    /// Records of the poll at hand.
    reads: Vec<Read>,
    /// Whether it tells records one by one; known from the first poll that returned some.
    is_verbose: Option<bool>,
    untold: u64,
    spans: Vec<(Key, Offset, Offset)>,
    /// The span of the present assignment of each key: its place among the spans.
    open: BTreeMap<Key, usize>,
}

impl ConsumerLog {
    /// What it does first begins after it has started.
    pub(super) fn start(&mut self, at: u64) {
        self.before = at;
    }

    /// Takes what only a consumer says; nothing else is left by then.
    pub(super) fn take(
        &mut self,
        log: &LogReader<'_>,
        at: u64,
        said: Said,
    ) -> Result<(), FormatError> {
        match said {
            Said::PartitionsAssigned { partitions } => {
                self.assign(at, &partitions);
                self.check_assigned(log)?;
            }
            Said::PartitionsRevoked { partitions } => {
                self.revoke(at, &partitions);
                self.check_assigned(log)?;
            }
            Said::RecordData { value, topic, partition, offset } => {
                let (key, offset) = log.place(&topic, partition, offset)?;
                self.reads.push(Read { line: log.line, key, topic, offset, value });
                // The poll that it came from ended before.
                return Ok(());
            }
            Said::RecordsConsumed { partitions } => self.poll(log, at, &partitions)?,
            Said::OffsetsCommitted { offsets, success, error } => {
                let error = (!success).then(|| error.unwrap_or_default());
                self.commit(log, at, &offsets, error)?;
            }
            _ => {}
        }
        self.before = at;
        Ok(())
    }

    fn push(&mut self, ended: u64, what: What) {
        let began = if self.before == 0 { ended } else { self.before };
        self.did.push(Did { began, ended, what });
    }

    /// Partitions that are assigned begin where the group has committed, also those that it had.
    fn assign(&mut self, at: u64, partitions: &[Partition]) {
        let keys = partitions.iter().map(Partition::key);
        if keys.clone().any(|key| self.assigned.contains(&key)) {
            self.revoke(at, partitions);
        }
        self.assigned.extend(keys);
        self.push_assigned(at);
    }

    fn revoke(&mut self, at: u64, partitions: &[Partition]) {
        for key in partitions.iter().map(Partition::key) {
            self.assigned.remove(&key);
            self.open.remove(&key);
        }
        self.push_assigned(at);
    }

    /// Each assignment names all that is assigned then.
    fn push_assigned(&mut self, at: u64) {
        let assigned: Vec<Key> = self.assigned.iter().cloned().collect();
        self.named += assigned.len();
        self.push(at, What::Assign(assigned));
    }

    /// A log that names a partition more in each of many lines would fill the memory.
    fn check_assigned(&self, log: &LogReader<'_>) -> Result<(), FormatError> {
        match self.named > MOST_NAMED {
            true => Err(log.wrong("its assignments name more than 4 million partitions in all")),
            false => Ok(()),
        }
    }

    /// The records stand before the line that counts them.
    fn poll(
        &mut self,
        log: &LogReader<'_>,
        at: u64,
        counted: &[Consumed],
    ) -> Result<(), FormatError> {
        let counts = counted.iter().map(|consumed| consumed.count);
        let count = counts.fold(0, u64::saturating_add);
        if count > 0 {
            let verbose = *self.is_verbose.get_or_insert(!self.reads.is_empty());
            if !verbose {
                self.untold = self.untold.saturating_add(count);
                return Ok(());
            }
        }
        let mut stand: BTreeMap<&Key, u64> = BTreeMap::new();
        for read in &self.reads {
            *stand.entry(&read.key).or_default() += 1;
        }
        for Consumed { partition, count } in counted {
            let key = partition.key();
            let stand = stand.get(&key).copied().unwrap_or_default();
            if stand != *count {
                let why = format!("it counts {count} records of {key}, {stand} stand before it");
                return Err(log.wrong(&why));
            }
        }
        if self.reads.len() as u64 != count {
            let stand = self.reads.len();
            let why = format!("it counts {count} records in all, {stand} stand before it");
            return Err(log.wrong(&why));
        }
        self.end_poll(at);
        Ok(())
    }

    fn end_poll(&mut self, at: u64) {
        let reads = std::mem::take(&mut self.reads);
        for read in &reads {
            let at = *self.open.entry(read.key.clone()).or_insert_with(|| {
                self.spans.push((read.key.clone(), read.offset, read.offset));
                self.spans.len() - 1
            });
            let (_, from, to) = &mut self.spans[at];
            (*from, *to) = ((*from).min(read.offset), (*to).max(read.offset));
        }
        self.push(at, What::Poll(reads));
    }

    fn commit(
        &mut self,
        log: &LogReader<'_>,
        at: u64,
        committed: &[Committed],
        error: Option<String>,
    ) -> Result<(), FormatError> {
        let place = |Committed { partition, offset }: &Committed| {
            log.place(&partition.topic, partition.partition, *offset)
        };
        let offsets = committed.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some((key, _)) = offsets.iter().find(|(key, _)| !seen.insert(key)) {
            return Err(log.wrong(&format!("field `offsets`: `{key}` {TWICE}")));
        }
        self.push(at, What::Commit(offsets, error));
        Ok(())
    }

    /// Whether it said anything.
    pub(super) fn is_empty(&self) -> bool {
        self.did.is_empty() && self.reads.is_empty() && self.untold == 0
    }

    pub(super) fn finish(mut self, log: &LogReader<'_>, ended: u64) -> Consumer {
        if !self.reads.is_empty() {
            // It was killed before it could count them.
            self.end_poll(ended);
        }
        let Self { did, untold, spans, .. } = self;
        Consumer { file: log.file.to_owned(), did, untold, spans }
    }
}
