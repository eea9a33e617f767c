//! When a record was surely gone: a later leader epoch had committed below it.

use std::collections::BTreeMap;

use highwater_history::{LeaderEpoch, Offset, TimeNs};

use crate::{index::records::RecordId, view::KeyView};

/// By leader epoch the lowest offset that was surely committed in it, and when that was known.
pub type Begun = BTreeMap<LeaderEpoch, (Offset, TimeNs)>;

impl KeyView<'_> {
    /// When a record that was acknowledged at an offset was surely gone from every log that counts:
    /// an acks=all record of a later epoch was acknowledged at its offset or below, and a log's
    /// epochs rise with its offsets (rules 3, 26). None where nothing tells, and where an allowed
    /// unclean election may have brought it back.
    pub fn replaced_at(&self, record: RecordId, offset: Option<Offset>) -> Option<TimeNs> {
        let (epoch, offset) = (self.acked_epoch(record)?, offset?);
        let later = |epoch_of: LeaderEpoch| epoch_of > epoch;
        if self.unclean_may_be_hidden()
            || self.elections.iter().any(|e| later(e.epoch) && e.unclean && e.unclean_allowed)
        {
            return None;
        }
        let begun = self.begun.get_or_init(|| self.begun());
        let after = begun.range(epoch.checked_add(1)?..).map(|(_, begun)| begun);
        after.filter(|(from, _)| *from <= offset).map(|(_, at)| *at).min()
    }

    fn begun(&self) -> Begun {
        let mut begun = Begun::new();
        for (record, offset) in self.acknowledged_by_all() {
            let (epoch, sender) = (self.acked_epoch(record), self.sender(record));
            let (Some(epoch), Some(sender)) = (epoch, sender) else { continue };
            let first = begun.entry(epoch).or_insert((offset, sender.completed_at));
            *first = (*first).min((offset, sender.completed_at));
        }
        begun
    }
}
