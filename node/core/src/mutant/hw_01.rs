//! A follower cuts its log to its own high watermark, which trails, before it asks the leader.

use super::Entry;
use crate::types::Offset;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-01",
    source: "KAFKA-1211, KIP-101; TLA+ KafkaTruncateToHighWatermark",
    schedule: "S2",
    rule: "14",
    apply: |rules| rules.cut_on_follow = to_the_high_watermark,
};

fn to_the_high_watermark(high_watermark: Offset, log_end: Offset) -> Option<Offset> {
    (high_watermark < log_end).then_some(high_watermark)
}
