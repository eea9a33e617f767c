//! What tells one history from another, whatever file it is read from.

use serde::{Deserialize, Serialize};

/// How many events there were, and a number made of all of them. It is no proof against somebody
/// who wants two histories to look the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// How many events.
    pub events: u64,
    /// Made of their numbers, times and kinds, and of the records that they send and read.
    pub sum: u64,
}

impl Digest {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Takes a number in.
    pub(super) fn take(&mut self, number: u64) {
        self.sum = (self.sum.rotate_left(25) ^ number).wrapping_mul(Self::FACTOR);
    }
}
