//! Rule 58 where segments meet: the offset at which one read ends.

use crate::types::Offset;

/// Rule 58 as an entry of the table.
pub type ReadEnd = fn(bound: Offset, segment: Option<Segment>) -> Offset;

/// The segment that holds an offset, or will hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its first offset.
    pub start: Offset,
    /// The end of what is written to it.
    pub end: Offset,
}

/// The reader's bound, also where a segment begins there: then nothing of that segment is read.
pub fn read_end(bound: Offset, _segment: Option<Segment>) -> Offset {
    bound
}
