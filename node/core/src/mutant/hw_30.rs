//! Any fetch shows a follower caught up, wherever it reads.

use super::Entry;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-30",
    source: "how articles describe Kafka",
    schedule: "S26",
    rule: "24",
    apply: |rules| rules.caught_up_at = |fetch| Some(fetch.now),
};
