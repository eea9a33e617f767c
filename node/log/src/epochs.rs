//! The epoch cache: which leader epoch each stretch of the log belongs to (rules 3 and 5).

use crate::store::EpochStart;

/// Epochs and their start offsets; both strictly increase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EpochCache {
    entries: Vec<EpochStart>,
}

impl EpochCache {
    /// A cache of what a checkpoint holds, as far as it is in order.
    pub(crate) fn from_checkpoint(entries: &[EpochStart]) -> EpochCache {
        let mut cache = EpochCache::default();
        entries.iter().for_each(|entry| {
            cache.assign(entry.epoch, entry.start_offset);
        });
        cache
    }

    /// The entries, oldest first.
    pub(crate) fn entries(&self) -> &[EpochStart] {
        &self.entries
    }

    /// The latest epoch.
    pub(crate) fn latest(&self) -> Option<i32> {
        self.entries.last().map(|entry| entry.epoch)
    }

    /// Records that `epoch` begins at `start_offset`. Epochs that got no record give way to it.
    /// True when something changed.
    pub(crate) fn assign(&mut self, epoch: i32, start_offset: i64) -> bool {
        if epoch < 0 || self.latest() >= Some(epoch) {
            return false;
        }
        self.truncate_end(start_offset);
        self.entries.push(EpochStart { epoch, start_offset });
        debug_assert!(self.is_ordered(), "{:?}", self.entries);
        true
    }

    /// Forgets epochs that begin at `end` or after. True when something changed.
    pub(crate) fn truncate_end(&mut self, end: i64) -> bool {
        let kept = self.entries.partition_point(|entry| entry.start_offset < end);
        let changed = kept < self.entries.len();
        self.entries.truncate(kept);
        changed
    }

    /// Forgets epochs that end before `start`; the one that holds it begins there.
    pub(crate) fn truncate_start(&mut self, start: i64) {
        let before = self.entries.partition_point(|entry| entry.start_offset <= start);
        if before > 0 {
            self.entries.drain(..before - 1);
            self.entries[0].start_offset = start;
        }
    }

    fn is_ordered(&self) -> bool {
        let ordered = |pair: &[EpochStart]| {
            pair[0].epoch < pair[1].epoch && pair[0].start_offset < pair[1].start_offset
        };
        self.entries.windows(2).all(ordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: &[(i32, i64)]) -> EpochCache {
        let entry = |(epoch, start_offset): &(i32, i64)| EpochStart {
            epoch: *epoch,
            start_offset: *start_offset,
        };
        EpochCache::from_checkpoint(&entries.iter().map(entry).collect::<Vec<_>>())
    }

    #[test]
    fn rule_5_an_epoch_without_records_gives_way() {
        let mut epochs = cache(&[(0, 0), (1, 10), (2, 10)]);
        assert_eq!(epochs, cache(&[(0, 0), (2, 10)]));
        assert!(epochs.assign(3, 10));
        assert_eq!(epochs, cache(&[(0, 0), (3, 10)]));
    }

    #[test]
    fn rule_3_epochs_never_go_back() {
        let mut epochs = cache(&[(4, 0)]);
        assert!(!epochs.assign(4, 7) && !epochs.assign(3, 9) && !epochs.assign(-1, 9));
        assert_eq!(epochs, cache(&[(4, 0)]));
    }

    #[test]
    fn truncation_forgets_what_begins_at_the_cut() {
        let mut epochs = cache(&[(0, 0), (1, 10), (2, 20)]);
        assert!(!epochs.truncate_end(21));
        assert!(epochs.truncate_end(20));
        assert_eq!(epochs, cache(&[(0, 0), (1, 10)]));
    }

    #[test]
    fn a_later_log_start_moves_the_epoch_that_holds_it() {
        let mut epochs = cache(&[(0, 0), (1, 10), (2, 20)]);
        epochs.truncate_start(15);
        assert_eq!(epochs, cache(&[(1, 15), (2, 20)]));
        epochs.truncate_start(3);
        assert_eq!(epochs, cache(&[(1, 15), (2, 20)]));
    }
}
