//! The checkpoint of the high watermark is not read: after a restart it is at the log start.
//!
//! Alone it is made good by the next fetches; with HW-01, which cuts there, everything is lost:
//! `--mutant HW-11 --mutant HW-01`.

use super::Entry;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-11",
    source: "KAFKA-769, KAFKA-851, KAFKA-858, KAFKA-1647",
    schedule: "S20",
    rule: "18",
    apply: |rules| rules.restored_high_watermark = |_, log_start, _| log_start,
};
