//! Removing the end of a log, or all of it.

use super::Log;
use crate::disk::{Disk, DiskError};
use crate::segment::Segment;
use crate::store::StoreError;

impl<F> Log<F> {
    /// Removes everything from `to` on, then rebuilds what is derived (rule 15). A batch that holds
    /// `to` goes as a whole.
    pub(crate) fn truncate<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        to: i64,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        if to >= self.log_end {
            // Also a cut at the end takes back what was said of epochs from there on (rule 5).
            if self.epochs.truncate_end(to) {
                self.write_epochs(disk, false)?;
            }
            return Ok(());
        }
        if to < self.segments[0].base_offset() {
            return self.truncate_fully(disk, to, now_ms);
        }
        let mut removed = self.remove_segments_after(disk, to)?;
        let config = self.config;
        let next_offset = self.active().truncate(disk, &config, to)?;
        self.log_end = next_offset;
        self.log_start = self.log_start.min(next_offset);
        removed |= self.remove_snapshots_after(disk, next_offset)?;
        if removed {
            // Else a power loss could bring them back beside what is appended now.
            disk.sync_dir(&self.dir)?;
        }
        if self.epochs.truncate_end(next_offset) {
            self.write_epochs(disk, false)?;
        }
        self.rebuild_producers(disk, next_offset)?;
        self.recovery_point = self.recovery_point.min(next_offset);
        Ok(())
    }

    /// Removes everything; the log is then empty and begins at `start`.
    pub(crate) fn truncate_fully<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        start: i64,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        while let Some(segment) = self.segments.pop() {
            segment.remove(disk)?;
        }
        self.remove_snapshots_after(disk, -1)?;
        self.segments.push(Segment::create(disk, &self.dir, start, now_ms)?);
        disk.sync_dir(&self.dir)?;
        self.log_start = start;
        self.log_end = start;
        self.producers = Default::default();
        self.epochs = Default::default();
        self.write_epochs(disk, false)?;
        self.recovery_point = start;
        self.unsynced_since_ms = None;
        Ok(())
    }

    /// Removes the segments that begin after `to`, the last first, so that no hole can be left.
    fn remove_segments_after<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        to: i64,
    ) -> Result<bool, DiskError> {
        let mut removed = false;
        while self.segments.len() > 1 && self.active().base_offset() >= to {
            let segment = self.segments.pop().expect("there are two or more");
            segment.remove(disk)?;
            removed = true;
        }
        Ok(removed)
    }
}
