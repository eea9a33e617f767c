//! What was sent to a follower counts as held by it, before its next fetch says so.

use super::Entry;
use crate::types::Offset;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-31",
    source: "how articles describe Kafka",
    schedule: "S18",
    rule: "16",
    apply: |rules| rules.confirmed_end = what_is_sent,
};

fn what_is_sent(fetch_offset: Offset, leader_end: Offset) -> Offset {
    fetch_offset.max(leader_end)
}
