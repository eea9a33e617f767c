//! Reading batches from a position that an offset gives.

use bytes::Bytes;

use super::{Scanner, Segment};
use crate::batch::{BatchHeader, HEADER_BYTES};
use crate::disk::{Disk, DiskError};
use crate::file::name::FileKind;
use crate::store::{LogConfig, StoreError};

/// What a read is bounded by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadLimits {
    /// No batch that begins here or later.
    pub(crate) upto: i64,
    /// The most bytes.
    pub(crate) max_bytes: usize,
    /// Give the first batch though it alone is larger.
    pub(crate) at_least_one: bool,
}

impl<F> Segment<F> {
    /// Whole batches from the one that holds `from` or, where compaction removed it, the next one.
    /// None when all batches of the segment are before `from`.
    pub(crate) fn read<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        from: i64,
        limits: ReadLimits,
    ) -> Result<Option<Bytes>, StoreError> {
        let start = self.position_before(disk, config, from)?;
        let left = self.size() - start;
        // The batch is at most an index interval and one batch further on: mostly one read does.
        let lead = config.index_interval_bytes + HEADER_BYTES as u64;
        let length = left.min((limits.max_bytes as u64).saturating_add(lead));
        let chunk = disk.read(&self.file, start, length as usize)?;
        let Some(skipped) = skip_to(&chunk, from) else {
            return self.read_far(disk, start, from, limits);
        };
        let chunk = chunk.slice(skipped..);
        let whole = take_whole(&chunk, limits);
        if whole > 0 || chunk.len() as u64 == left - skipped as u64 {
            return Ok(Some(chunk.slice(..whole)));
        }
        self.read_far(disk, start + skipped as u64, from, limits)
    }

    /// As [`Segment::read`], batch by batch: for batches larger than the limits foresee.
    fn read_far<D: Disk<File = F>>(
        &self,
        disk: &mut D,
        start: u64,
        from: i64,
        limits: ReadLimits,
    ) -> Result<Option<Bytes>, StoreError> {
        let mut scanner = Scanner::new(disk, &self.file, start, self.size());
        while let Some((position, batch)) = scanner.next()? {
            let batch = batch.map_err(|error| self.corrupt(position, &error))?;
            if batch.header().last_offset() < from {
                continue;
            }
            if batch.header().base_offset >= limits.upto {
                return Ok(Some(Bytes::new()));
            }
            if batch.bytes().len() > limits.max_bytes {
                let first = if limits.at_least_one { batch.into_bytes() } else { Bytes::new() };
                return Ok(Some(first));
            }
            let length = limits.max_bytes.min((self.size() - position) as usize);
            let chunk = disk.read(&self.file, position, length)?;
            return Ok(Some(chunk.slice(..take_whole(&chunk, limits))));
        }
        Ok(None)
    }

    /// A broken batch within the log is no end of it: what comes after must not be served as if
    /// nothing were missing.
    fn corrupt(&self, position: u64, error: &dyn std::fmt::Display) -> StoreError {
        let path = format!("{}/{}", self.dir, FileKind::Log.name(self.base_offset()));
        StoreError::Corrupt { path, reason: format!("no batch at byte {position}: {error}") }
    }

    /// A position at or before the batch that holds `offset`, where a batch begins.
    pub(super) fn position_before<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        offset: i64,
    ) -> Result<u64, DiskError> {
        let base_offset = self.base_offset();
        let offsets = &self.indexes(disk, config)?.offsets;
        let after = offsets
            .partition_point(|entry| base_offset + i64::from(entry.relative_offset) <= offset);
        Ok(after.checked_sub(1).map_or(0, |at| u64::from(offsets[at].position)))
    }
}

/// Bytes before the first batch that ends at `from` or later; none when it is not in `chunk`.
fn skip_to(chunk: &[u8], from: i64) -> Option<usize> {
    let mut at = 0;
    while let Ok(header) = BatchHeader::parse(&chunk[at..]) {
        if header.last_offset() >= from {
            return Some(at);
        }
        at += header.size();
        if at > chunk.len() {
            return None;
        }
    }
    None
}

/// Bytes of the whole batches at the front of `chunk` that the limits allow.
fn take_whole(chunk: &[u8], limits: ReadLimits) -> usize {
    let mut at = 0;
    while let Ok(header) = BatchHeader::parse(&chunk[at..]) {
        let end = at + header.size();
        let too_much = end > limits.max_bytes && !(limits.at_least_one && at == 0);
        if end > chunk.len() || header.base_offset >= limits.upto || too_much {
            break;
        }
        at = end;
    }
    at
}
