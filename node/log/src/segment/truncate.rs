//! Cutting a segment at an offset.

use super::track::Track;
use super::{Scanner, Segment};
use crate::disk::{Disk, DiskError};
use crate::store::LogConfig;

impl<F> Segment<F> {
    /// Removes the batch that holds `offset` and all after it; then the segment can be appended to.
    /// Gives the offset after the last batch that is left.
    pub(crate) fn truncate<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        offset: i64,
    ) -> Result<i64, DiskError> {
        let base_offset = self.base_offset();
        let mut indexes = self.indexes(disk, config)?.clone();
        let before = |relative: u32| base_offset + i64::from(relative) < offset;
        indexes.offsets.retain(|entry| before(entry.relative_offset));
        indexes.times.retain(|entry| before(entry.relative_offset));
        let end = self.size();
        self.track = Track::at_last_entry(base_offset, indexes);
        self.track.unwritten = true;
        let mut next_offset = base_offset;
        let mut scanner = Scanner::new(disk, &self.file, self.track.size, end);
        while let Some((_, Ok(batch))) = scanner.next()? {
            if batch.header().last_offset() >= offset {
                break;
            }
            next_offset = batch.header().next_offset();
            self.track.note(batch.header(), config.index_interval_bytes);
        }
        disk.truncate(&self.file, self.size())?;
        self.track.first_timestamp = self.read_first_timestamp(disk)?;
        Ok(next_offset)
    }
}
