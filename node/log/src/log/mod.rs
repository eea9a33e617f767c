//! One partition's log: its segments, and what is derived from them.

mod append;
mod open;
mod producer_files;
mod query;
mod truncate;

use std::sync::Arc;

use crate::disk::{Disk, DiskError};
use crate::epochs::EpochCache;
use crate::file::checkpoint::{self, LEADER_EPOCHS};
use crate::producers::Producers;
use crate::segment::Segment;
use crate::store::{LogConfig, LogState, StoreError};

pub(crate) use open::Origin;

/// An open log.
#[derive(Debug)]
pub(crate) struct Log<F> {
    dir: Arc<str>,
    topic_id: Option<u128>,
    config: LogConfig,
    /// In order of their offsets; the last one is appended to; never empty.
    segments: Vec<Segment<F>>,
    log_start: i64,
    log_end: i64,
    epochs: EpochCache,
    /// True when the epoch checkpoint on disk is durable.
    epochs_durable: bool,
    producers: Producers,
    /// Offsets of the producer snapshots that are on disk, in order.
    snapshots: Vec<i64>,
    /// Everything before it is durable.
    recovery_point: i64,
    /// When the oldest record that is not durable was appended, in Unix milliseconds.
    unsynced_since_ms: Option<i64>,
    /// True when file names in the directory, or its own name, are not durable.
    names_unsynced: bool,
}

impl<F> Log<F> {
    /// The log's directory.
    pub(crate) fn dir(&self) -> &str {
        &self.dir
    }

    /// The topic that the log belongs to.
    pub(crate) fn topic_id(&self) -> Option<u128> {
        self.topic_id
    }

    /// The first offset.
    pub(crate) fn log_start(&self) -> i64 {
        self.log_start
    }

    /// The offset after the last record.
    pub(crate) fn log_end(&self) -> i64 {
        self.log_end
    }

    /// The first offset of the segment that is appended to.
    pub(crate) fn segment_start(&self) -> i64 {
        self.segments.last().expect("a log has a segment").base_offset()
    }

    /// Everything before this offset is durable.
    pub(crate) fn recovery_point(&self) -> i64 {
        self.recovery_point
    }

    /// True when the log starts after the records of its first segment.
    pub(crate) fn starts_inside_segment(&self) -> bool {
        self.log_start > self.segments[0].base_offset()
    }

    /// Bytes of all segments.
    pub(crate) fn size(&self) -> u64 {
        self.segments.iter().map(Segment::size).sum()
    }

    /// Replaces the settings.
    pub(crate) fn configure(&mut self, config: LogConfig) {
        self.config = config;
    }

    /// What the core must know.
    pub(crate) fn state(&self) -> LogState {
        LogState {
            log_start: self.log_start,
            log_end: self.log_end,
            epochs: self.epochs.entries().to_vec(),
            producers: self.producers.entries().cloned().collect(),
        }
    }

    /// When `flush.ms` asks for a sync, in Unix milliseconds.
    pub(crate) fn sync_due_ms(&self) -> Option<i64> {
        self.unsynced_since_ms.map(|since| since.saturating_add(self.config.flush_ms))
    }

    /// True when `flush.messages` asks for a sync.
    pub(crate) fn sync_is_due(&self) -> bool {
        self.log_end - self.recovery_point >= self.config.flush_messages
            && self.log_end > self.recovery_point
    }

    /// Makes all records durable, and the names of the files that hold them.
    pub(crate) fn sync<D: Disk<File = F>>(&mut self, disk: &mut D) -> Result<(), DiskError> {
        if self.recovery_point < self.log_end {
            // Older segments were synced when they were closed.
            self.active().sync(disk)?;
        }
        if self.names_unsynced {
            disk.sync_dir(&self.dir)?;
            disk.sync_dir("")?;
            self.names_unsynced = false;
        }
        self.recovery_point = self.log_end;
        self.unsynced_since_ms = None;
        Ok(())
    }

    /// Closes the log cleanly: it can be opened again without a check of its content.
    pub(crate) fn close<D: Disk<File = F>>(
        mut self,
        disk: &mut D,
        oldest_producer_ms: i64,
    ) -> Result<(), DiskError> {
        self.sync(disk)?;
        self.write_snapshot(disk, oldest_producer_ms)?;
        if !self.epochs_durable {
            self.write_epochs(disk, true)?;
        }
        self.segments.iter_mut().try_for_each(|segment| segment.close(disk))
    }

    /// Records that an epoch begins.
    pub(crate) fn assign_epoch<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        epoch: i32,
        start_offset: i64,
    ) -> Result<(), StoreError> {
        if self.epochs.assign(epoch, start_offset) {
            self.write_epochs(disk, false)?;
        }
        Ok(())
    }

    fn write_epochs<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        durable: bool,
    ) -> Result<(), DiskError> {
        let text = checkpoint::format_epochs(self.epochs.entries());
        let path = format!("{}/{LEADER_EPOCHS}", self.dir);
        self.epochs_durable = durable;
        crate::file::replace(disk, &path, text.as_bytes(), durable)
    }

    fn active(&mut self) -> &mut Segment<F> {
        self.segments.last_mut().expect("a log has a segment")
    }

    /// The last segment that may hold `offset`.
    fn segment_of(&self, offset: i64) -> usize {
        let after = self.segments.partition_point(|segment| segment.base_offset() <= offset);
        after.saturating_sub(1)
    }

    /// Frees the indexes of all closed segments but one: catching up reads them in turn.
    fn unload_other_indexes<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        used: usize,
    ) -> Result<(), DiskError> {
        let closed = self.segments.len() - 1;
        let others = self.segments[..closed].iter_mut().enumerate().filter(|(at, _)| *at != used);
        others.map(|(_, segment)| segment).try_for_each(|segment| segment.close(disk))
    }
}
