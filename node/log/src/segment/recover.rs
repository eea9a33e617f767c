//! Opening a segment: in full after a crash, from the last index entry after a clean stop.

use super::track::{Indexes, Track};
use super::{Scanner, Segment};
use crate::batch::{Batch, BatchHeader, HEADER_BYTES};
use crate::disk::{Disk, DiskError};
use crate::file::index::{self, IndexEntry};
use crate::file::name::FileKind;
use crate::store::LogConfig;

/// What a scan cut off the end of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// How many bytes.
    pub(crate) bytes: u64,
    /// What was wrong with the first of them.
    pub(crate) reason: String,
}

impl<F> Segment<F> {
    /// Reads the whole segment, checks every batch, builds the indexes anew and cuts the file at
    /// the first batch that is broken or that `accept` refuses with a reason.
    pub(crate) fn recover<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        accept: impl FnMut(&Batch) -> Result<(), String>,
    ) -> Result<Option<Cut>, DiskError> {
        let end = self.size();
        self.track = Track::empty(self.base_offset());
        let Some(reason) = self.walk(disk, config, end, accept)? else { return Ok(None) };
        disk.truncate(&self.file, self.size())?;
        Ok(Some(Cut { bytes: end - self.size(), reason }))
    }

    /// Prepares a segment that was closed cleanly for appending, and gives the offset after its
    /// last batch. None when it does not end with a whole batch, so that it must be recovered.
    pub(crate) fn resume<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
    ) -> Result<Option<i64>, DiskError> {
        let end = self.size();
        self.track = match self.read_indexes(disk)? {
            Some(indexes) => Track::at_last_entry(self.base_offset(), indexes),
            None => Track::empty(self.base_offset()),
        };
        let mut next_offset = self.base_offset();
        let broken = self.walk(disk, config, end, |batch| {
            next_offset = batch.header().next_offset();
            Ok(())
        })?;
        if broken.is_some() {
            self.track = Track::unread(self.base_offset(), end);
            return Ok(None);
        }
        self.track.first_timestamp = self.read_first_timestamp(disk)?;
        Ok(Some(next_offset))
    }

    /// Takes the batches between what is known and `end` into account. Stops early, with the
    /// reason, at one that does not belong.
    fn walk<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
        end: u64,
        mut accept: impl FnMut(&Batch) -> Result<(), String>,
    ) -> Result<Option<String>, DiskError> {
        let mut scanner = Scanner::new(disk, &self.file, self.track.size, end);
        while let Some((_, batch)) = scanner.next()? {
            let batch = batch.and_then(|batch| batch.check_crc().map(|()| batch));
            let checked = batch.map_err(|error| error.to_string()).and_then(|batch| {
                self.track.check_range(batch.header())?;
                accept(&batch).map(|()| batch)
            });
            match checked {
                Ok(batch) => self.track.note(batch.header(), config.index_interval_bytes),
                Err(reason) => return Ok(Some(reason)),
            }
        }
        Ok(None)
    }

    /// The indexes, from memory, from their files, or built anew.
    pub(super) fn indexes<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
    ) -> Result<&Indexes, DiskError> {
        if self.track.indexes.is_none() {
            self.load_indexes(disk, config)?;
        }
        Ok(self.track.indexes.as_ref().expect("they are loaded"))
    }

    fn load_indexes<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
        config: &LogConfig,
    ) -> Result<(), DiskError> {
        if let Some(indexes) = self.read_indexes(disk)? {
            self.track.largest = indexes.times.last().copied();
            self.track.indexes = Some(indexes);
            return Ok(());
        }
        let size = self.size();
        self.track = Track::empty(self.base_offset());
        self.walk(disk, config, size, |_| Ok(()))?;
        self.track.size = size;
        Ok(())
    }

    /// The index files; none when one is missing or broken.
    fn read_indexes<D: Disk<File = F>>(&self, disk: &mut D) -> Result<Option<Indexes>, DiskError> {
        let offsets = self.read_index(disk, FileKind::OffsetIndex)?;
        let times = self.read_index(disk, FileKind::TimeIndex)?;
        let (Some(offsets), Some(times)) = (offsets, times) else { return Ok(None) };
        let indexes = Indexes { offsets, times };
        let last = indexes.offsets.last().map(|entry| u64::from(entry.position));
        let inside = last.is_none_or(|position| position < self.size());
        // Closing a segment that has records gives its time index at least one entry.
        let timed = !indexes.times.is_empty() || self.size() == 0;
        Ok((inside && timed).then_some(indexes))
    }

    fn read_index<D: Disk<File = F>, E: IndexEntry>(
        &self,
        disk: &mut D,
        kind: FileKind,
    ) -> Result<Option<Vec<E>>, DiskError> {
        let content = crate::file::read(disk, &self.path(kind))?;
        Ok(content.and_then(|content| index::parse(&content)))
    }

    pub(super) fn read_first_timestamp<D: Disk<File = F>>(
        &mut self,
        disk: &mut D,
    ) -> Result<Option<i64>, DiskError> {
        let first = disk.read(&self.file, 0, HEADER_BYTES)?;
        let timestamp = BatchHeader::parse(&first).map(|header| header.max_timestamp);
        Ok(timestamp.ok().filter(|timestamp| *timestamp >= 0))
    }
}
