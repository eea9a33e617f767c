//! Rules 58, 48 and 7: the offset that a reader does not get past.

use crate::replica::{Isolation, LogBounds};
use crate::types::Offset;

/// Rule 58 as an entry of the table.
pub type FetchBound = fn(Isolation, &LogBounds) -> Offset;

/// Replicas read to the log end, consumers to the high watermark or the last stable offset.
pub fn fetch_bound(isolation: Isolation, log: &LogBounds) -> Offset {
    match isolation {
        Isolation::LogEnd => log.log_end,
        Isolation::HighWatermark => log.high_watermark,
        Isolation::LastStable => log.last_stable,
    }
}
