//! Rules 41, 42 and 44: which batch of an idempotent producer is the next one, and which a repeat.

use crate::replica::{BatchMeta, ProducerEntry, ProducerStamp, Remembered, ReplicaError};

/// Rule 42: the remembered batch that this one repeats.
pub type FindRepeat = fn(&ProducerEntry, &BatchMeta, &ProducerStamp) -> Option<Remembered>;

/// Rules 41 and 44: may this batch, which is no repeat, be appended?
pub type CheckSequence = fn(Option<&ProducerEntry>, &ProducerStamp) -> Result<(), ReplicaError>;

/// An exact repeat: same epoch, same first and last sequence as one of the last five batches.
pub fn find_repeat(
    entry: &ProducerEntry,
    batch: &BatchMeta,
    stamp: &ProducerStamp,
) -> Option<Remembered> {
    if stamp.epoch != entry.epoch {
        return None;
    }
    let last_sequence = batch.last_sequence(stamp);
    entry
        .batches
        .iter()
        .find(|b| b.base_sequence == stamp.base_sequence && b.last_sequence == last_sequence)
        .copied()
}

/// A known producer goes on where it ended, or starts a newer epoch at 0; an unknown one may
/// start anywhere.
pub fn check_sequence(
    entry: Option<&ProducerEntry>,
    stamp: &ProducerStamp,
) -> Result<(), ReplicaError> {
    let Some(entry) = entry else { return Ok(()) };
    if stamp.epoch < entry.epoch {
        return Err(ReplicaError::InvalidProducerEpoch);
    }
    let expected = match stamp.epoch == entry.epoch {
        true => entry.next_sequence(),
        false => 0,
    };
    match stamp.base_sequence == expected {
        true => Ok(()),
        false => Err(ReplicaError::OutOfOrderSequenceNumber),
    }
}
