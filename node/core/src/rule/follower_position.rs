//! Rules 16, 18 and 11: what a fetch confirms, and what its answer tells the follower.

use crate::types::Offset;

/// Rule 16: the end of what a follower is known to hold after its fetch.
pub type ConfirmedEnd = fn(fetch_offset: Offset, leader_end: Offset) -> Offset;

/// Rule 18: a follower's high watermark.
pub type FollowerHighWatermark = fn(of_leader: Offset, own_log_end: Offset) -> Offset;

/// A fetch confirms what lies below its offset; what the leader sends back is confirmed by the
/// next one.
pub fn confirmed_end(fetch_offset: Offset, _leader_end: Offset) -> Offset {
    fetch_offset
}

/// The leader's, but never beyond what is written here.
pub fn follower_high_watermark(of_leader: Offset, own_log_end: Offset) -> Offset {
    of_leader.min(own_log_end)
}
