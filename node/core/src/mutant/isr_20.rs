//! A follower leaves the ISR when it is many records behind, however short the time.

use super::Entry;
use crate::rule::isr_removal::Lag;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "ISR-20",
    source: "replica.lag.max.messages of Kafka up to 0.8 (KAFKA-1546)",
    schedule: "S26",
    rule: "24",
    apply: |rules| rules.out_of_sync = many_records_behind,
};

/// Kafka's default was 4000, for loads that are as much larger as its clusters were.
const LAG_MAX_MESSAGES: i64 = 20;

fn many_records_behind(lag: &Lag) -> bool {
    lag.log_end.is_none_or(|end| lag.leader_end.0 - end.0 > LAG_MAX_MESSAGES)
}
