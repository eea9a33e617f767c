//! Tests of the store, over a disk in memory.

mod commands;
mod crash;
mod failing;
mod foreign;
mod model;
mod producers;
mod recovery;

use bytes::{Bytes, BytesMut};

use super::{Command, Done, LogConfig, LogId, LogState, Opened, Store, StoreError};
use crate::batch::BatchBuilder;
use crate::disk::{Disk, MemDisk};

pub(super) const LOG: LogId = LogId(1);
pub(super) const DIR: &str = "t-0";
pub(super) const TOPIC: u128 = 7;
pub(super) const NOW_MS: i64 = 1_000_000;

/// Segments and index intervals so small that a few batches fill them.
pub(super) fn tiny() -> LogConfig {
    LogConfig { segment_bytes: 500, index_interval_bytes: 100, ..LogConfig::default() }
}

/// A batch of `count` records at its place in the log.
pub(super) fn batch(offset: i64, epoch: i32, count: usize, timestamp: i64) -> Bytes {
    let mut builder = BatchBuilder::new().place(offset, epoch);
    for at in 0..count {
        builder.push(timestamp + at as i64, None, Some(format!("{offset}+{at}").as_bytes()), &[]);
    }
    builder.build()
}

/// Many batches of two records each, as one run of bytes.
pub(super) fn batches(from: i64, to: i64, epoch: i32) -> Bytes {
    let mut run = BytesMut::new();
    (from..to).step_by(2).for_each(|at| run.extend_from_slice(&batch(at, epoch, 2, at * 10)));
    run.freeze()
}

/// A store with one log open.
pub(super) struct Bench {
    pub(super) store: Store<MemDisk>,
    pub(super) opened: Opened,
}

impl Bench {
    pub(super) fn new(disk: MemDisk, config: LogConfig) -> Bench {
        let mut store = Store::new(disk);
        store.execute(NOW_MS, Command::Find).unwrap();
        let opened = open(&mut store, config).unwrap();
        Bench { store, opened }
    }

    /// A new log with tiny segments.
    pub(super) fn tiny() -> Bench {
        Bench::new(MemDisk::new(), tiny())
    }

    pub(super) fn run(&mut self, command: Command) -> Result<Done, StoreError> {
        self.store.execute(NOW_MS, command)
    }

    pub(super) fn append(&mut self, batches: Bytes) -> Result<i64, StoreError> {
        match self.run(Command::Append { log: LOG, batches, sync: false })? {
            Done::Appended { log_end, .. } => Ok(log_end),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn read(&mut self, from: i64, upto: i64, max_bytes: usize) -> Bytes {
        self.try_read(from, upto, max_bytes, true).unwrap()
    }

    pub(super) fn try_read(
        &mut self,
        from: i64,
        upto: i64,
        max_bytes: usize,
        at_least_one: bool,
    ) -> Result<Bytes, StoreError> {
        match self.run(Command::Read { log: LOG, from, upto, max_bytes, at_least_one })? {
            Done::Records { batches } => Ok(batches),
            other => panic!("{other:?}"),
        }
    }

    /// All that is in the log from `from` on.
    pub(super) fn read_all(&mut self, from: i64) -> Bytes {
        let mut all = BytesMut::new();
        let mut at = from;
        loop {
            let some = self.read(at, i64::MAX, 300);
            let Some(last) = crate::batch::Batches::new(some.clone()).last() else { break };
            at = last.unwrap().header().next_offset();
            all.extend_from_slice(&some);
        }
        all.freeze()
    }

    pub(super) fn truncate(&mut self, to: i64) -> LogState {
        match self.run(Command::Truncate { log: LOG, to }).unwrap() {
            Done::Truncated(state) => state,
            other => panic!("{other:?}"),
        }
    }

    /// Kills the process and starts it again.
    pub(super) fn restart(self, config: LogConfig) -> Bench {
        Bench::new(self.store.into_disk(), config)
    }

    pub(super) fn stop(&mut self, high_watermark: i64, broker_epoch: Option<i64>) {
        let high_watermarks = vec![(LOG, high_watermark)];
        self.run(Command::CleanShutdown { high_watermarks, broker_epoch }).unwrap();
    }
}

pub(super) fn open<D: Disk>(store: &mut Store<D>, config: LogConfig) -> Result<Opened, StoreError> {
    let command = Command::Open { log: LOG, dir: DIR.to_owned(), topic_id: Some(TOPIC), config };
    match store.execute(NOW_MS, command)? {
        Done::Opened(opened) => Ok(opened),
        other => panic!("{other:?}"),
    }
}

pub(super) fn files(disk: &mut MemDisk) -> Vec<String> {
    disk.list(DIR).unwrap().into_iter().map(|entry| entry.name).collect()
}
