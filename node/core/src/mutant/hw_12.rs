//! A follower whose log does not fit the leader's throws all of it away and copies it anew.

use super::Entry;
use crate::replica::{EpochCache, EpochEnd};
use crate::rule::truncation::{LeaderRange, Reset};
use crate::types::Offset;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-12",
    source: "KAFKA-2143",
    schedule: "S2",
    rule: "14",
    apply: |rules| {
        rules.after_out_of_range = start_over;
        rules.cut_point = everything;
    },
};

fn start_over(_log_end: Offset, leader: LeaderRange) -> Reset {
    Reset::StartAt(leader.start)
}

fn everything(_epochs: &EpochCache, _log_end: Offset, _leader: EpochEnd) -> Offset {
    Offset(0)
}
