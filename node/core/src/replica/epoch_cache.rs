//! The leader epochs of one log and where each began (rule 5).

use crate::types::{LeaderEpoch, Offset};

/// (epoch, start offset) of each epoch that left records, both strictly increasing.
///
/// The newest entry may be of an epoch that has not written yet; the next epoch that starts at
/// the same offset takes its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochCache {
    entries: Vec<(LeaderEpoch, Offset)>,
}

/// An epoch and the offset after its last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// The epoch.
    pub epoch: LeaderEpoch,
    /// The offset after its last record.
    pub end: Offset,
}

impl EpochCache {
    /// The cache with these entries, as a log's checkpoint gives them.
    pub fn new(entries: Vec<(LeaderEpoch, Offset)>) -> EpochCache {
        let cache = EpochCache { entries };
        debug_assert!(cache.is_ordered(), "epochs and starts rise together: {cache:?}");
        cache
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> &[(LeaderEpoch, Offset)] {
        &self.entries
    }

    /// The newest epoch.
    pub fn latest(&self) -> Option<LeaderEpoch> {
        self.entries.last().map(|(epoch, _)| *epoch)
    }

    /// Notes that `epoch` begins at `start`; nothing changes when it is the newest already.
    pub fn assign(&mut self, epoch: LeaderEpoch, start: Offset) {
        if self.latest() == Some(epoch) {
            return;
        }
        self.entries.retain(|(e, s)| *e < epoch && *s < start);
        self.entries.push((epoch, start));
    }

    /// Forgets what began at or after `end`, also when `end` is the log end (rule 5).
    pub fn truncate(&mut self, end: Offset) {
        self.entries.retain(|(_, start)| *start < end);
    }

    /// Where the largest epoch that is not above `asked` ends; the newest ends at `log_end`.
    ///
    /// Below the first known epoch the answer is (`asked`, start of the first); `None` for -1 and
    /// for an epoch above the newest (rule 5).
    pub fn end_of(&self, asked: LeaderEpoch, log_end: Offset) -> Option<EpochEnd> {
        if asked.0 < 0 {
            return None;
        }
        if self.latest() == Some(asked) {
            return Some(EpochEnd { epoch: asked, end: log_end });
        }
        let higher = self.entries.partition_point(|(epoch, _)| *epoch <= asked);
        let (_, end) = *self.entries.get(higher)?;
        let epoch = higher.checked_sub(1).map_or(asked, |at| self.entries[at].0);
        Some(EpochEnd { epoch, end })
    }

    /// True when epochs and start offsets rise strictly (rule 5).
    pub fn is_ordered(&self) -> bool {
        self.entries.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1)
    }
}
