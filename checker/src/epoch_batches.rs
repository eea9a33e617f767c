//! The batches of every epoch over all dumps of a key: one place of an epoch holds one batch.

use std::{collections::BTreeMap, path::Path};

use highwater_history::{LeaderEpoch, Offset, dumps::DumpBatch, event::BatchId};

/// What makes two batches the same, and where one was seen first.
struct Held<'a> {
    last: Offset,
    id: BatchId,
    crc: u32,
    control: bool,
    dump: &'a Path,
}

impl Held<'_> {
    fn is(&self, batch: &DumpBatch) -> bool {
        (self.last, self.id, self.crc, self.control)
            == (batch.last_offset, batch.id(), batch.crc, batch.control)
    }
}

/// Batches by epoch and base offset; no two overlap, or one of them was not taken in.
#[derive(Default)]
pub struct EpochBatches<'a>(BTreeMap<(LeaderEpoch, Offset), Held<'a>>);

impl<'a> EpochBatches<'a> {
    /// Takes a batch in; where its place holds another one, gives that place and the other's dump.
    pub fn insert(&mut self, batch: &DumpBatch, dump: &'a Path) -> Option<(Offset, &'a Path)> {
        let at = (batch.epoch, batch.base_offset);
        let up_to = (batch.epoch, batch.last_offset);
        let nearest = self.0.range((batch.epoch, Offset::MIN)..=up_to).next_back();
        if let Some((&(_, base), held)) = nearest.filter(|(_, held)| held.last >= at.1) {
            let same = base == batch.base_offset && held.is(batch);
            return (!same).then(|| (base.max(batch.base_offset), held.dump));
        }
        let held = Held {
            last: batch.last_offset,
            id: batch.id(),
            crc: batch.crc,
            control: batch.control,
            dump,
        };
        self.0.insert(at, held);
        None
    }
}
