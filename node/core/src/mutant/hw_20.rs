//! The high watermark waits for a replica that is caught up but may not be in the ISR.

use super::Entry;
use crate::rule::high_watermark::FollowerStanding;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-20",
    source: "KAFKA-15021",
    schedule: "S21",
    rule: "16",
    apply: |rules| rules.counts_for_high_watermark = whoever_is_caught_up,
};

fn whoever_is_caught_up(follower: &FollowerStanding) -> bool {
    follower.in_maximal_isr || follower.caught_up
}
