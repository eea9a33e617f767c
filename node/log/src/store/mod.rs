//! Executes commands on the logs of one log directory, in the order given.

mod command;

pub use command::{
    Command, Completion, Done, EpochStart, FoundLog, LogConfig, LogId, LogState, Opened,
    ProducerBatch, ProducerEntry, StoreError, TimeQuery, TimedOffset,
};

use crate::disk::Disk;

/// The logs of one log directory.
#[derive(Debug)]
pub struct Store<D> {
    disk: D,
}

impl<D: Disk> Store<D> {
    /// A store over a log directory in which nothing is open yet.
    pub fn new(disk: D) -> Store<D> {
        Store { disk }
    }

    /// Gives the disk back and forgets the rest, as a crash of the process does.
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// Executes one command to its end. `now_ms` is the wall clock in Unix milliseconds.
    pub fn execute(&mut self, now_ms: i64, command: Command) -> Completion {
        let _ = (now_ms, command);
        Err(StoreError::Unknown(LogId(0)))
    }
}
