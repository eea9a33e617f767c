//! A leader that steps down answers waiting acks=all writes with OK when they are in its own log.

use super::Entry;
use crate::rule::ack::{Ack, AckView};
use crate::types::Offset;

/// The switch.
pub const ENTRY: Entry = Entry {
    id: "HW-26",
    source: "Redpanda #3003 (Jepsen, Redpanda 21.10.1)",
    schedule: "S3, S4",
    rule: "36",
    apply: |rules| rules.ack_on_step_down = ok_when_written,
};

fn ok_when_written(view: &AckView, last_offset: Offset) -> Ack {
    match view.log_end > last_offset {
        true => Ack::Answer(Ok(())),
        false => Ack::Wait,
    }
}
