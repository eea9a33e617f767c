//! Rule 9, the leader's side: does the reader's history end before its fetch offset here?

use crate::replica::{EpochCache, EpochEnd, ReplicaError};
use crate::types::Offset;

/// Rule 9 as an entry of the table.
pub type Diverges = fn(
    epochs: &EpochCache,
    log_end: Offset,
    fetched: EpochEnd,
) -> Result<Option<EpochEnd>, ReplicaError>;

/// Compares the end of what the reader holds with this log.
///
/// `fetched` is the epoch of the reader's last record and its fetch offset. Gives where the
/// largest epoch that is not above the reader's ends here, when that is before the fetch offset
/// or in an older epoch. An epoch above all that this log knows is out of range.
pub fn diverges(
    epochs: &EpochCache,
    log_end: Offset,
    fetched: EpochEnd,
) -> Result<Option<EpochEnd>, ReplicaError> {
    let here = epochs.end_of(fetched.epoch, log_end).ok_or(ReplicaError::OffsetOutOfRange)?;
    let agrees = here.epoch >= fetched.epoch && here.end >= fetched.end;
    Ok((!agrees).then_some(here))
}
