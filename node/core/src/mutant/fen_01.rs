//! A leader drops followers from its ISR on its own authority and goes on acknowledging.

use super::Entry;
use crate::types::BrokerId;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "FEN-01",
    source: "TLA+ KafkaReplication; contrast KIP-497",
    schedule: "S3",
    rule: "22",
    apply: |rules| rules.while_shrinking = proposed_at_once,
};

fn proposed_at_once(_committed: &[BrokerId], proposed: &[BrokerId]) -> Vec<BrokerId> {
    proposed.to_vec()
}
