//! min.insync.replicas is never enforced: with a leader alone, acks=all is one copy.

use super::Entry;
use crate::rule::ack::{Ack, AckView, ack_all};
use crate::types::Offset;

/// The switch: as if the setting were 1 everywhere.
pub const ENTRY: Entry = Entry {
    id: "ISR-09",
    source: "KAFKA-1555; Kafka's design documentation, availability and durability",
    schedule: "S19",
    rule: "37",
    apply: |rules| {
        rules.admits_append = |_, _, _| Ok(());
        rules.may_advance = |_, _| true;
        rules.ack_all = committed_is_enough;
    },
};

fn committed_is_enough(view: &AckView, last_offset: Offset) -> Ack {
    ack_all(&AckView { min_isr: 1, ..*view }, last_offset)
}
