//! Rule 18: where the high watermark goes on after a restart.

use crate::types::Offset;

/// Rule 18 as an entry of the table.
pub type RestoredHighWatermark =
    fn(checkpointed: Offset, log_start: Offset, log_end: Offset) -> Offset;

/// Where the last checkpoint says, within what the log still holds.
pub fn restored_high_watermark(checkpointed: Offset, log_start: Offset, log_end: Offset) -> Offset {
    checkpointed.clamp(log_start, log_end)
}
