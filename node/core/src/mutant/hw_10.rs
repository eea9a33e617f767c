//! A high watermark at a segment's end is not carried over: a read there runs to the file's end.

use super::Entry;
use crate::rule::read_end::Segment;
use crate::types::Offset;

/// The switch; it shows with a few batches a segment.
pub const ENTRY: Entry = Entry {
    id: "HW-10",
    source: "KAFKA-9196",
    schedule: "S18",
    rule: "58",
    apply: |rules| rules.read_end = to_the_end_of_the_file,
};

fn to_the_end_of_the_file(bound: Offset, segment: Option<Segment>) -> Offset {
    match segment {
        Some(Segment { start, end }) if start == bound => end,
        _ => bound,
    }
}
