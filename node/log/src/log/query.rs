//! Reading batches by offset, and finding offsets by timestamp.

use bytes::Bytes;

use super::Log;
use crate::disk::Disk;
use crate::segment::{ReadLimits, TimeSpan};
use crate::store::{StoreError, TimeQuery, TimedOffset};

impl<F> Log<F> {
    /// Whole batches from the one that holds `from` (rule 7); all from one segment.
    pub(crate) fn read<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        from: i64,
        limits: ReadLimits,
    ) -> Result<Bytes, StoreError> {
        let (log_start, log_end) = (self.log_start, self.log_end);
        if !(log_start..=log_end).contains(&from) {
            return Err(StoreError::OutOfRange { offset: from, log_start, log_end });
        }
        if from >= limits.upto.min(log_end) {
            return Ok(Bytes::new());
        }
        let config = self.config;
        // A segment whose end compaction removed may have nothing at or after the offset.
        for at in self.segment_of(from)..self.segments.len() {
            if let Some(batches) = self.segments[at].read(disk, &config, from, limits)? {
                self.unload_other_indexes(disk, at)?;
                return Ok(batches);
            }
        }
        Ok(Bytes::new())
    }

    /// The record that a query by timestamp asks for, among those before `upto`.
    pub(crate) fn offset_for_time<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        query: TimeQuery,
        upto: i64,
    ) -> Result<Option<TimedOffset>, StoreError> {
        match query {
            TimeQuery::AtOrAfter(timestamp) => self.first_since(disk, timestamp, upto),
            TimeQuery::Largest => {
                let Some(largest) = self.largest_timestamp(disk)? else { return Ok(None) };
                let found = self.first_since(disk, largest, self.log_end)?;
                // As Kafka does: a record that may not be seen yet hides older ones.
                Ok(found.filter(|found| found.offset < upto))
            }
        }
    }

    fn first_since<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        timestamp: i64,
        upto: i64,
    ) -> Result<Option<TimedOffset>, StoreError> {
        let config = self.config;
        let span = TimeSpan { timestamp, from: self.log_start, upto };
        for at in 0..self.segments.len() {
            let segment = &mut self.segments[at];
            if segment.largest_timestamp(disk, &config)?.is_none_or(|largest| largest < timestamp) {
                continue;
            }
            if let Some(found) = segment.first_since(disk, &config, span)? {
                self.unload_other_indexes(disk, at)?;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn largest_timestamp<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
    ) -> Result<Option<i64>, StoreError> {
        let mut largest = None;
        for segment in &mut self.segments {
            largest = largest.max(segment.largest_timestamp(disk, &self.config)?);
        }
        Ok(largest)
    }
}
