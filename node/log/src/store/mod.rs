//! Executes commands on the logs of one log directory, in the order given.

mod checkpoints;
mod command;
mod execute;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use command::{
    Command, Completion, Done, EpochStart, FoundLog, LogConfig, LogId, LogState, Opened,
    ProducerBatch, ProducerEntry, StoreError, TimeQuery, TimedOffset,
};

use crate::disk::{Disk, DiskError};
use crate::log::Log;
use checkpoints::Checkpoints;

/// Kafka's default of `producer.id.expiration.ms`.
const PRODUCER_EXPIRATION_MS: i64 = 24 * 60 * 60 * 1000;

/// Kafka's default of `producer.id.expiration.check.interval.ms`.
const PRODUCER_CHECK_MS: i64 = 10 * 60 * 1000;

/// The logs of one log directory.
///
/// Commands are executed in order. An append that must be durable is completed by
/// [`Store::settle`], so that one sync serves all that wait; all else is completed at once.
#[derive(Debug)]
pub struct Store<D: Disk> {
    disk: D,
    logs: BTreeMap<LogId, Log<D::File>>,
    checkpoints: Checkpoints,
    /// True when the last stop was clean: logs can be opened without a check.
    clean: bool,
    /// Directories that were found after another stop and not opened, so not checked, since.
    unchecked: BTreeSet<String>,
    /// Appends that wait for a sync: what they were submitted as, where, and the end they gave.
    waiting: Vec<(u64, LogId, AppendEnd)>,
    /// The first failure of the disk. Nothing is done after it.
    failed: Option<DiskError>,
    producer_expiration_ms: i64,
    producer_check_ms: i64,
    /// When silent producers were last looked for, in Unix milliseconds.
    producers_checked_ms: i64,
}

/// Where a log ends after an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AppendEnd {
    log_end: i64,
    segment_start: i64,
}

impl AppendEnd {
    fn done(self) -> Done {
        Done::Appended { log_end: self.log_end, segment_start: self.segment_start }
    }
}

impl<D: Disk> Store<D> {
    /// A store over a log directory in which nothing is open yet.
    pub fn new(disk: D) -> Store<D> {
        Store {
            disk,
            logs: BTreeMap::new(),
            checkpoints: Checkpoints::default(),
            clean: false,
            unchecked: BTreeSet::new(),
            waiting: Vec::new(),
            failed: None,
            producer_expiration_ms: PRODUCER_EXPIRATION_MS,
            producer_check_ms: PRODUCER_CHECK_MS,
            producers_checked_ms: 0,
        }
    }

    /// Sets `producer.id.expiration.ms` (rule 44).
    pub fn with_producer_expiration_ms(mut self, expiration_ms: i64) -> Store<D> {
        self.producer_expiration_ms = expiration_ms;
        self
    }

    /// Sets `producer.id.expiration.check.interval.ms`: how often silent producers are looked for.
    pub fn with_producer_check_ms(mut self, check_ms: i64) -> Store<D> {
        self.producer_check_ms = check_ms;
        self
    }

    /// Gives the disk back and forgets the rest, as a crash of the process does.
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// Executes one command to its end. `now_ms` is the wall clock in Unix milliseconds.
    pub fn execute(&mut self, now_ms: i64, command: Command) -> Completion {
        let mut out = Vec::new();
        self.submit(now_ms, 0, command, &mut out);
        self.settle(&mut out);
        let (_, done) = out.pop().expect("a settled command is completed");
        debug_assert!(out.is_empty(), "commands that were submitted before are settled");
        done
    }

    /// Executes one command; its completion, marked with `ticket`, is in `out` now or after
    /// [`Store::settle`]. Completions that it had to wait for come first.
    pub fn submit(
        &mut self,
        now_ms: i64,
        ticket: u64,
        command: Command,
        out: &mut Vec<(u64, Completion)>,
    ) {
        let overtakes = matches!(
            command,
            Command::Append { .. } | Command::Read { .. } | Command::OffsetForTime { .. }
        );
        if !overtakes {
            self.settle(out);
        }
        if let Command::Append { log, batches, sync } = command {
            let appended = self.append(now_ms, log, batches);
            match self.note_failure(appended) {
                Ok(end) if sync || self.must_wait(log) => {
                    self.waiting.push((ticket, log, end));
                }
                done => out.push((ticket, done.map(AppendEnd::done))),
            }
            return;
        }
        let done = self.run(now_ms, command);
        out.push((ticket, self.note_failure(done)));
    }

    /// Syncs each log that appends wait for, and completes them.
    pub fn settle(&mut self, out: &mut Vec<(u64, Completion)>) {
        let waiting = std::mem::take(&mut self.waiting);
        let mut last = None;
        for (ticket, log, end) in waiting {
            if last != Some(log) {
                let synced = self.sync(log);
                let _ = self.note_failure(synced);
                last = Some(log);
            }
            let failed = self.failed.clone().map(StoreError::Disk);
            out.push((ticket, failed.map_or(Ok(end.done()), Err)));
        }
    }

    /// When [`Store::sync_due`] has something to do, in Unix milliseconds (`flush.ms`): never again
    /// once the disk has failed.
    pub fn next_sync_ms(&self) -> Option<i64> {
        if self.failed.is_some() {
            return None;
        }
        self.logs.values().filter_map(Log::sync_due_ms).filter(|due| *due < i64::MAX).min()
    }

    /// Syncs the logs whose `flush.ms` is over.
    pub fn sync_due(&mut self, now_ms: i64) -> Result<(), StoreError> {
        let due = |log: &Log<D::File>| log.sync_due_ms().is_some_and(|due| due <= now_ms);
        let logs: Vec<LogId> =
            self.logs.iter().filter(|(_, log)| due(log)).map(|(id, _)| *id).collect();
        for log in logs {
            let synced = self.sync(log);
            self.note_failure(synced)?;
        }
        Ok(())
    }

    /// An append must not complete before one that it follows in the same log.
    fn must_wait(&self, log: LogId) -> bool {
        let asked = self.logs.get(&log).is_some_and(Log::sync_is_due);
        asked || self.waiting.iter().any(|(_, waiting, _)| *waiting == log)
    }

    /// Remembers a failure of the disk: what the directory holds is unknown from then on.
    fn note_failure<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Disk(error)) = &done {
            self.failed.get_or_insert_with(|| error.clone());
        }
        done
    }

    fn check_healthy(&self) -> Result<(), StoreError> {
        self.failed.clone().map_or(Ok(()), |error| Err(StoreError::Disk(error)))
    }
}
