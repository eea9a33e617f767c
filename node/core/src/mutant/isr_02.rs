//! A proposed addition does not count for the high watermark before its answer has come.

use std::collections::BTreeSet;

use super::Entry;
use crate::types::BrokerId;

/// The switch: the controller may have committed the addition, and may elect who was added.
pub const ENTRY: Entry = Entry {
    id: "ISR-02",
    source: "KIP-497; Apache Kafka 4.3.1 in part (docs/track-record.md)",
    schedule: "isr-addition-in-flight, isr-addition-late-metadata",
    rule: "16",
    apply: |rules| rules.maximal_isr = what_is_committed,
};

fn what_is_committed(committed: &[BrokerId], _proposed: &[BrokerId]) -> BTreeSet<BrokerId> {
    committed.iter().copied().collect()
}
