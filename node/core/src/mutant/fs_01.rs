//! `flush.messages` is not obeyed: records count before they are synced.

use super::Entry;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "FS-01",
    source: "Kafka's default flush policy, taken where another was set",
    schedule: "S6",
    rule: "c.1.4",
    apply: |rules| rules.flush_after = |_| i64::MAX,
};
