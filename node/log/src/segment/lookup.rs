//! Finding records by timestamp, and positions by offset.

use super::{Scanner, Segment};
use crate::batch::{Batch, BatchError};
use crate::disk::{Disk, DiskError};
use crate::store::{LogConfig, TimedOffset};

/// Records decompressed for a look-up were accepted with their batch: this only bounds the harm of
/// a broken one.
const DECOMPRESSED_MAX_BYTES: usize = 1 << 30;

/// Which records of a segment count in a look-up by timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeSpan {
    /// The smallest timestamp, in Unix milliseconds.
    pub(crate) timestamp: i64,
    /// The first offset that counts.
    pub(crate) from: i64,
    /// The offset after the last that counts.
    pub(crate) upto: i64,
}

impl<F> Segment<F> {
    /// The largest timestamp in the segment (Unix milliseconds); none when it has no records.
    pub(crate) fn largest_timestamp<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
    ) -> Result<Option<i64>, DiskError> {
        if self.track.largest.is_none() {
            self.indexes(disk, config)?;
        }
        Ok(self.track.largest.map(|entry| entry.timestamp))
    }

    /// The first record in the span.
    pub(crate) fn first_since<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        span: TimeSpan,
    ) -> Result<Option<TimedOffset>, DiskError> {
        let base_offset = self.base_offset();
        let times = &self.indexes(disk, config)?.times;
        let after = times.partition_point(|entry| entry.timestamp <= span.timestamp);
        let known = after.checked_sub(1).map_or(0, |at| times[at].relative_offset);
        let from = span.from.max(base_offset + i64::from(known));
        let start = self.position_before(disk, config, from)?;
        let mut scanner = Scanner::new(disk, &self.file, start, self.size());
        while let Some((_, batch)) = scanner.next()? {
            let Ok(batch) = batch else { break };
            if batch.header().base_offset >= span.upto {
                break;
            }
            if batch.header().max_timestamp < span.timestamp {
                continue;
            }
            // A batch that cannot be decompressed has no record that could be found.
            if let Ok(Some(found)) = first_in_batch(&batch, span) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn first_in_batch(batch: &Batch, span: TimeSpan) -> Result<Option<TimedOffset>, BatchError> {
    for record in batch.records(DECOMPRESSED_MAX_BYTES)? {
        let record = record?;
        let counts = (span.from..span.upto).contains(&record.offset);
        if counts && record.timestamp >= span.timestamp {
            let leader_epoch = batch.header().leader_epoch;
            let (timestamp, offset) = (record.timestamp, record.offset);
            return Ok(Some(TimedOffset { timestamp, offset, leader_epoch }));
        }
    }
    Ok(None)
}
