//! Reads batch after batch from a segment's file.

use bytes::Bytes;

use super::Segment;
use crate::batch::{Batch, BatchError};
use crate::disk::{Disk, DiskError};

/// Bytes a read: large enough that reading costs little, small enough to be held by many.
const CHUNK_BYTES: u64 = 1 << 20;

/// A position in a segment's file that moves from batch to batch.
#[derive(Debug)]
pub(crate) struct Scanner<'a, D: Disk> {
    disk: &'a mut D,
    file: &'a D::File,
    at: u64,
    end: u64,
    chunk: Bytes,
}

/// A batch and where it is, or why there is none.
pub(crate) type Scanned = (u64, Result<Batch, BatchError>);

impl<'a, D: Disk> Scanner<'a, D> {
    /// Reads from position `at`, where a batch begins, up to `end`.
    pub(crate) fn new(disk: &'a mut D, file: &'a D::File, at: u64, end: u64) -> Scanner<'a, D> {
        Scanner { disk, file, at, end, chunk: Bytes::new() }
    }

    /// The next batch; none at the end. After a batch error the scan cannot go on.
    pub(crate) fn next(&mut self) -> Result<Option<Scanned>, DiskError> {
        if self.at == self.end {
            return Ok(None);
        }
        let mut batch = Batch::split_from(&mut self.chunk);
        while let Err(BatchError::Incomplete { needed, .. }) = batch {
            let left = self.end - self.at;
            if self.chunk.len() as u64 == left {
                break;
            }
            let length = needed.max(CHUNK_BYTES).min(left);
            self.chunk = self.disk.read(self.file, self.at, length as usize)?;
            batch = Batch::split_from(&mut self.chunk);
            if (self.chunk.len() as u64) < length && batch.is_err() {
                break;
            }
        }
        let position = self.at;
        if let Ok(batch) = &batch {
            self.at += batch.bytes().len() as u64;
        }
        Ok(Some((position, batch)))
    }
}

impl<F> Segment<F> {
    /// Shows every batch of the segment, up to the first that is broken.
    pub(crate) fn replay<D: Disk<File = F>>(
        &self,
        disk: &mut D,
        mut show: impl FnMut(&Batch),
    ) -> Result<(), DiskError> {
        let mut scanner = Scanner::new(disk, &self.file, 0, self.size());
        while let Some((_, Ok(batch))) = scanner.next()? {
            show(&batch);
        }
        Ok(())
    }
}
