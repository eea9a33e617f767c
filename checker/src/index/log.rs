//! Which record somebody first named at each offset of one key.

use std::collections::BTreeMap;

use highwater_history::Offset;

use super::{gently, records::RecordId};

/// Stands for no record.
pub const NONE: RecordId = RecordId::MAX;

/// The record that was first named at each offset: what nearly every later word on that offset
/// names too. It is no evidence of its own; words that differ are kept where they were said.
#[derive(Debug, Default)]
pub struct Log {
    /// The record at each offset from `first` on.
    held: Vec<RecordId>,
    first: Offset,
    /// How many offsets of the table have a record.
    named: usize,
    /// Offsets that are too far from the others for the table.
    far: BTreeMap<Offset, RecordId>,
}

impl Log {
    /// The table may be this many times as long as it has records.
    const SPREAD: usize = 4;
    /// And longer by this.
    const HEAD: usize = 4096;

    /// The record that was first named at an offset.
    pub fn at(&self, offset: Offset) -> Option<RecordId> {
        let held = self.place(offset).and_then(|at| self.held.get(at)).copied();
        match held.filter(|record| *record != NONE) {
            None if self.far.is_empty() => None,
            None => self.far.get(&offset).copied(),
            held => held,
        }
    }

    /// The records that were first named at an offset and those that follow on it, as far as the
    /// table goes; `NONE` where nothing was named.
    pub fn from(&self, offset: Offset) -> &[RecordId] {
        self.place(offset).and_then(|at| self.held.get(at..)).unwrap_or_default()
    }

    /// Names a record at an offset, and says which one was named there first.
    pub fn name(&mut self, offset: Offset, record: RecordId) -> RecordId {
        if self.held.is_empty() {
            self.first = offset;
        }
        let limit = Self::HEAD + Self::SPREAD * self.named;
        let Some(at) = self.place(offset).filter(|at| *at < limit) else {
            return *self.far.entry(offset).or_insert(record);
        };
        while self.held.len() <= at {
            gently::push(&mut self.held, NONE);
        }
        if self.held[at] == NONE {
            self.held[at] = self.far.get(&offset).copied().unwrap_or(record);
            self.named += 1;
        }
        self.held[at]
    }

    /// Gives back what was taken for offsets that did not come.
    pub fn shrink(&mut self) {
        self.held.shrink_to_fit();
    }

    /// The first offset and the records from there on, if every named offset is among them.
    pub fn table(&self) -> Option<(Offset, &[RecordId])> {
        self.far.is_empty().then_some((self.first, &self.held))
    }

    fn place(&self, offset: Offset) -> Option<usize> {
        offset.checked_sub(self.first).and_then(|above| usize::try_from(above).ok())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn the_first_name_stays(
            names in vec((prop_oneof![0i64..200, 0i64..1 << 60, any::<i64>()], 0u32..9), 0..300),
        ) {
            let mut log = Log::default();
            let mut first: BTreeMap<Offset, RecordId> = BTreeMap::new();
            for (offset, record) in names {
                prop_assert_eq!(log.at(offset), first.get(&offset).copied());
                let expected = *first.entry(offset).or_insert(record);
                prop_assert_eq!(log.name(offset, record), expected);
            }
            for (offset, record) in first {
                prop_assert_eq!(log.at(offset), Some(record));
            }
        }
    }

    #[test]
    fn offsets_that_run_away_do_not_take_memory() {
        let mut log = Log::default();
        for nth in 0..60 {
            log.name(1 << nth, nth);
        }
        assert!(log.held.len() < 3 * Log::HEAD, "{}", log.held.len());
    }
}
