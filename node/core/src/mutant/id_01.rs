//! Only a producer's last sequence is remembered, so a repeat is refused as out of order.

use super::Entry;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "ID-01",
    source: "Redpanda #3039, #3038 (Jepsen, Redpanda 21.10.1)",
    schedule: "S8",
    rule: "42",
    apply: |rules| rules.find_repeat = |_, _, _| None,
};
