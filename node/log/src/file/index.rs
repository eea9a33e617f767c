//! The two sparse indexes of a segment: positions by offset, offsets by timestamp.

use bytes::{Buf, BufMut};

/// One entry of an index file, fixed in size, with offsets relative to the segment's base offset.
pub trait IndexEntry: Copy {
    /// Its size in the file.
    const BYTES: usize;
    /// Its fields; `bytes` has [`IndexEntry::BYTES`].
    fn decode(bytes: &[u8]) -> Self;
    /// Appends its bytes.
    fn encode(self, out: &mut Vec<u8>);
    /// True when this entry may follow `earlier`.
    fn follows(self, earlier: Self) -> bool;
}

/// In `.index`: the batch at `position` ends with the record at this offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetEntry {
    /// Last offset of the batch, minus the segment's base offset.
    pub relative_offset: u32,
    /// Where the batch begins in the file.
    pub position: u32,
}

/// In `.timeindex`: no record up to this offset has a later timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeEntry {
    /// In Unix milliseconds.
    pub timestamp: i64,
    /// Last offset of the batch that has it, minus the segment's base offset.
    pub relative_offset: u32,
}

impl IndexEntry for OffsetEntry {
    const BYTES: usize = 8;

    fn decode(mut bytes: &[u8]) -> OffsetEntry {
        OffsetEntry { relative_offset: bytes.get_u32(), position: bytes.get_u32() }
    }

    fn encode(self, out: &mut Vec<u8>) {
        out.put_u32(self.relative_offset);
        out.put_u32(self.position);
    }

    fn follows(self, earlier: OffsetEntry) -> bool {
        self.relative_offset > earlier.relative_offset && self.position > earlier.position
    }
}

impl IndexEntry for TimeEntry {
    const BYTES: usize = 12;

    fn decode(mut bytes: &[u8]) -> TimeEntry {
        TimeEntry { timestamp: bytes.get_i64(), relative_offset: bytes.get_u32() }
    }

    fn encode(self, out: &mut Vec<u8>) {
        out.put_i64(self.timestamp);
        out.put_u32(self.relative_offset);
    }

    fn follows(self, earlier: TimeEntry) -> bool {
        self.timestamp > earlier.timestamp && self.relative_offset >= earlier.relative_offset
    }
}

/// An index file's content.
pub fn format<E: IndexEntry>(entries: &[E]) -> Vec<u8> {
    let mut out = Vec::with_capacity(entries.len() * E::BYTES);
    entries.iter().for_each(|entry| entry.encode(&mut out));
    out
}

/// Reads an index file; none when it is broken and must be built anew. Kafka preallocates an active
/// segment's indexes, so after a crash one can end in entries that do not follow: it is broken.
pub fn parse<E: IndexEntry>(bytes: &[u8]) -> Option<Vec<E>> {
    if !bytes.len().is_multiple_of(E::BYTES) {
        return None;
    }
    let entries: Vec<E> = bytes.chunks(E::BYTES).map(E::decode).collect();
    entries.windows(2).all(|pair| pair[1].follows(pair[0])).then_some(entries)
}
