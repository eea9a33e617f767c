//! One segment: a file of batches and its two sparse indexes.

mod lookup;
mod read;
mod recover;
mod scan;
mod track;
mod truncate;

use std::sync::Arc;

use crate::batch::{Batch, BatchHeader};
use crate::disk::{Disk, DiskError, OpenMode};
use crate::file::index;
use crate::file::name::FileKind;
use crate::store::LogConfig;

pub(crate) use lookup::TimeSpan;
pub(crate) use read::ReadLimits;
pub(crate) use recover::Cut;
pub(crate) use scan::Scanner;
use track::{RELATIVE_OFFSET_MAX, Track};

/// A segment whose file is open. Its index files are written when it is closed; until then, and
/// while they are in use, the indexes are in memory.
#[derive(Debug)]
pub(crate) struct Segment<F> {
    dir: Arc<str>,
    file: F,
    track: Track,
    /// When the segment was created or opened, in Unix milliseconds.
    created_ms: i64,
}

impl<F> Segment<F> {
    /// Creates an empty segment; its name is not yet durable.
    pub(crate) fn create<D: Disk<File = F>>(
        disk: &mut D,
        dir: &Arc<str>,
        base_offset: i64,
        now_ms: i64,
    ) -> Result<Segment<F>, DiskError> {
        let path = format!("{dir}/{}", FileKind::Log.name(base_offset));
        let file = disk.open(&path, OpenMode::Empty)?;
        Ok(Segment { dir: dir.clone(), file, track: Track::empty(base_offset), created_ms: now_ms })
    }

    /// Opens a segment without reading it.
    pub(crate) fn open<D: Disk<File = F>>(
        disk: &mut D,
        dir: &Arc<str>,
        base_offset: i64,
        now_ms: i64,
    ) -> Result<Segment<F>, DiskError> {
        let path = format!("{dir}/{}", FileKind::Log.name(base_offset));
        let file = disk.open(&path, OpenMode::Existing)?;
        let track = Track::unread(base_offset, disk.length(&file)?);
        Ok(Segment { dir: dir.clone(), file, track, created_ms: now_ms })
    }

    /// The offset that its name tells.
    pub(crate) fn base_offset(&self) -> i64 {
        self.track.base_offset
    }

    /// Bytes in the file.
    pub(crate) fn size(&self) -> u64 {
        self.track.size
    }

    fn path(&self, kind: FileKind) -> String {
        format!("{}/{}", self.dir, kind.name(self.base_offset()))
    }

    /// True when an index entry can express the offset.
    pub(crate) fn can_express(&self, offset: i64) -> bool {
        offset - self.base_offset() <= RELATIVE_OFFSET_MAX
    }

    /// True when `bytes` more, the first batch of them `first`, belong into a new segment.
    pub(crate) fn is_full(
        &self,
        config: &LogConfig,
        bytes: u64,
        first: &BatchHeader,
        now_ms: i64,
    ) -> bool {
        let waited_ms = match self.track.first_timestamp {
            Some(start) if first.max_timestamp >= 0 => first.max_timestamp.saturating_sub(start),
            _ => now_ms.saturating_sub(self.created_ms),
        };
        let full = self.size() + bytes > config.segment_bytes;
        let old = waited_ms > config.segment_ms;
        self.size() > 0 && (full || old || self.track.index_is_full(config))
    }

    /// Appends whole batches with one write.
    pub(crate) fn append<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        bytes: &[u8],
        batches: &[Batch],
    ) -> Result<(), DiskError> {
        debug_assert_eq!(
            bytes.len(),
            batches.iter().map(|batch| batch.bytes().len()).sum::<usize>()
        );
        disk.append(&self.file, bytes)?;
        batches
            .iter()
            .for_each(|batch| self.track.note(batch.header(), config.index_interval_bytes));
        Ok(())
    }

    /// Makes the batches durable.
    pub(crate) fn sync<D: Disk<File = F>>(&mut self, disk: &mut D) -> Result<(), DiskError> {
        disk.sync(&self.file)
    }

    /// Writes the index files and forgets the indexes: nothing is appended any more.
    pub(crate) fn close<D: Disk<File = F>>(&mut self, disk: &mut D) -> Result<(), DiskError> {
        self.track.note_largest();
        let Some(indexes) = self.track.indexes.take().filter(|_| self.track.unwritten) else {
            return Ok(());
        };
        self.write_index(disk, FileKind::OffsetIndex, &index::format(&indexes.offsets))?;
        self.write_index(disk, FileKind::TimeIndex, &index::format(&indexes.times))?;
        self.track.unwritten = false;
        Ok(())
    }

    /// Durable, because half a time index would look whole and hide the largest timestamps.
    fn write_index<D: Disk<File = F>>(
        &self,
        disk: &mut D,
        kind: FileKind,
        content: &[u8],
    ) -> Result<(), DiskError> {
        let file = disk.open(&self.path(kind), OpenMode::Empty)?;
        disk.append(&file, content)?;
        disk.sync(&file)
    }

    /// Removes all files of the segment.
    pub(crate) fn remove<D: Disk<File = F>>(self, disk: &mut D) -> Result<(), DiskError> {
        let kinds = [FileKind::OffsetIndex, FileKind::TimeIndex, FileKind::TransactionIndex];
        for kind in kinds {
            disk.remove(&self.path(kind))?;
        }
        disk.remove(&self.path(FileKind::Log))
    }
}
