//! Rule 23: when the leader proposes to add a follower to the ISR.

use crate::types::Offset;

/// Rule 23 as an entry of the table.
pub type Admits = fn(&Candidate) -> bool;

/// A follower outside of the ISR, and what it is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The end of what it has confirmed.
    pub log_end: Offset,
    /// The leader's high watermark.
    pub high_watermark: Offset,
    /// Where the leader's epoch began.
    pub epoch_start: Offset,
    /// Registered under the epoch it fetches with, not fenced, not in controlled shutdown.
    pub eligible: bool,
}

/// It holds all that is committed and all that earlier epochs left, and is fit to serve.
pub fn admits(candidate: &Candidate) -> bool {
    candidate.eligible
        && candidate.log_end >= candidate.high_watermark
        && candidate.log_end >= candidate.epoch_start
}
