//! Rule 19: a new leader does not tell where the log ends before it knows.

use crate::replica::ReplicaError;
use crate::types::Offset;

/// Rule 19 as an entry of the table.
pub type EndIsKnown = fn(high_watermark: Offset, epoch_start: Offset) -> Result<(), ReplicaError>;

/// The high watermark of a new leader trails until it has reached the start of its epoch.
pub fn end_is_known(high_watermark: Offset, epoch_start: Offset) -> Result<(), ReplicaError> {
    match high_watermark >= epoch_start {
        true => Ok(()),
        false => Err(ReplicaError::OffsetNotAvailable),
    }
}
