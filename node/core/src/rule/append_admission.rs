//! Rule 37: whether a write may be appended at all.

use crate::replica::{Acks, ReplicaError};

/// Rule 37 as an entry of the table.
pub type AdmitsAppend =
    fn(acks: Acks, committed_isr: usize, min_isr: usize) -> Result<(), ReplicaError>;

/// acks=all with a committed ISR below min ISR is refused; acks 0 and 1 do not look at it.
pub fn admits_append(acks: Acks, committed_isr: usize, min_isr: usize) -> Result<(), ReplicaError> {
    if acks == Acks::All && committed_isr < min_isr {
        return Err(ReplicaError::NotEnoughReplicas);
    }
    Ok(())
}
