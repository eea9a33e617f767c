//! Consumers read up to the log end instead of the high watermark.

use super::Entry;
use crate::replica::{Isolation, LogBounds};
use crate::types::Offset;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-09",
    source: "KAFKA-9835, KAFKA-727",
    schedule: "S18",
    rule: "58",
    apply: |rules| rules.fetch_bound = to_the_log_end,
};

fn to_the_log_end(_isolation: Isolation, log: &LogBounds) -> Offset {
    log.log_end
}
