//! What is known of a segment's content, kept up to date batch by batch.

use crate::batch::BatchHeader;
use crate::file::index::{IndexEntry, OffsetEntry, TimeEntry};
use crate::store::LogConfig;

/// The largest relative offset that an index entry may have.
pub(super) const RELATIVE_OFFSET_MAX: i64 = i32::MAX as i64;

/// Both indexes of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Indexes {
    pub(crate) offsets: Vec<OffsetEntry>,
    pub(crate) times: Vec<TimeEntry>,
}

/// Size, indexes and times of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Track {
    pub(super) base_offset: i64,
    pub(super) size: u64,
    /// None while they are only in their files.
    pub(super) indexes: Option<Indexes>,
    /// True when the index files lack something that is in `indexes`.
    pub(super) unwritten: bool,
    /// The largest timestamp and where it is, when known: always for an active segment.
    pub(super) largest: Option<TimeEntry>,
    /// What `segment.ms` counts from: timestamp of the first batch.
    pub(super) first_timestamp: Option<i64>,
    bytes_since_entry: u64,
}

impl Track {
    /// An empty segment.
    pub(super) fn empty(base_offset: i64) -> Track {
        let indexes = Some(Indexes::default());
        Track { base_offset, indexes, unwritten: true, ..Track::default() }
    }

    /// A segment of which only the size is known.
    pub(super) fn unread(base_offset: i64, size: u64) -> Track {
        Track { base_offset, size, ..Track::default() }
    }

    /// The same segment as it is before the batch at the last index entry.
    pub(super) fn at_last_entry(base_offset: i64, indexes: Indexes) -> Track {
        let size = indexes.offsets.last().map_or(0, |entry| u64::from(entry.position));
        let largest = indexes.times.last().copied();
        Track { base_offset, size, largest, indexes: Some(indexes), ..Track::default() }
    }

    /// Takes a batch at the end of the segment into account; every `interval` bytes there is an
    /// index entry.
    pub(super) fn note(&mut self, header: &BatchHeader, interval: u64) {
        let relative_offset = self.relative(header.last_offset());
        if self.largest.is_none_or(|largest| header.max_timestamp > largest.timestamp) {
            self.largest = Some(TimeEntry { timestamp: header.max_timestamp, relative_offset });
        }
        if self.first_timestamp.is_none() && header.max_timestamp >= 0 {
            self.first_timestamp = Some(header.max_timestamp);
        }
        self.unwritten = true;
        if self.bytes_since_entry > interval {
            let position = self.size as u32;
            let indexes = self.indexes.as_mut().expect("a segment that grows has its indexes");
            indexes.offsets.push(OffsetEntry { relative_offset, position });
            self.note_largest();
            self.bytes_since_entry = 0;
        }
        self.size += header.size() as u64;
        self.bytes_since_entry += header.size() as u64;
    }

    /// Adds the largest timestamp to the time index if it is larger than those there.
    pub(super) fn note_largest(&mut self) {
        let (Some(indexes), Some(largest)) = (&mut self.indexes, self.largest) else { return };
        let last = indexes.times.last().map_or(-1, |entry| entry.timestamp);
        if largest.timestamp > last {
            indexes.times.push(largest);
        }
    }

    fn relative(&self, offset: i64) -> u32 {
        debug_assert!((0..=RELATIVE_OFFSET_MAX).contains(&(offset - self.base_offset)));
        (offset - self.base_offset) as u32
    }

    /// Says why a batch cannot be in this segment.
    pub(super) fn check_range(&self, header: &BatchHeader) -> Result<(), String> {
        let last = header.last_offset().wrapping_sub(self.base_offset);
        let forward = header.base_offset >= self.base_offset && header.last_offset_delta >= 0;
        if forward && (0..=RELATIVE_OFFSET_MAX).contains(&last) {
            return Ok(());
        }
        let (base, offset) = (self.base_offset, header.base_offset);
        Err(format!("a batch at offset {offset} cannot be in the segment of offset {base}"))
    }

    /// True when an index has no place for another entry and the one that closes it.
    pub(super) fn index_is_full(&self, config: &LogConfig) -> bool {
        let Some(indexes) = &self.indexes else { return false };
        let places = |bytes: usize| config.segment_index_bytes as usize / bytes;
        indexes.offsets.len() >= places(OffsetEntry::BYTES)
            || indexes.times.len() + 1 >= places(TimeEntry::BYTES)
    }
}
