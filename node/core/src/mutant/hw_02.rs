//! Follower and leader compare the lengths of their logs only: nothing diverges that is not longer.

use super::Entry;

/// The switch; a log that is longer than the leader's is cut to its length as ever.
pub const ENTRY: Entry = Entry {
    id: "HW-02",
    source: "KAFKA-1211, KIP-101 scenario 2",
    schedule: "S6, S20",
    rule: "9",
    apply: |rules| rules.diverges = |_, _, _| Ok(None),
};
