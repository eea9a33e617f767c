//! Rules 70 and 71: what of the metadata log is committed.

use crate::types::Offset;

/// The voters' progress in the leader's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// For each voter, the end of what it has synced; in any order.
    pub synced: &'a [Offset],
    /// Where the leader's epoch starts: the offset of its leader change record.
    pub epoch_start: Offset,
}

/// The type of [`committed_end`].
pub type CommittedEnd = fn(Progress<'_>) -> Option<Offset>;

/// The end of what a majority has synced, once it lies past the epoch's first record; records of
/// earlier epochs are committed with it and never on their own.
pub fn committed_end(progress: Progress<'_>) -> Option<Offset> {
    let mut ends = progress.synced.to_vec();
    ends.sort_unstable_by(|a, b| b.cmp(a));
    let majority = *ends.get(ends.len() / 2)?;
    (majority > progress.epoch_start).then_some(majority)
}
