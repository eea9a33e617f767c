//! A proposed removal counts for the high watermark before the controller has accepted it.

use std::collections::BTreeSet;

use super::Entry;
use crate::types::BrokerId;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "ISR-01",
    source: "TLA+ AsyncIsr; KIP-497 (KAFKA-8836)",
    schedule: "S5",
    rule: "16",
    apply: |rules| rules.maximal_isr = what_is_proposed,
};

fn what_is_proposed(committed: &[BrokerId], proposed: &[BrokerId]) -> BTreeSet<BrokerId> {
    let isr = if proposed.is_empty() { committed } else { proposed };
    isr.iter().copied().collect()
}
