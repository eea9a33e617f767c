//! A log of batch headers: what a replica finds again after a cut or a restart.

use crate::replica::{BatchMeta, EpochCache, LoadedLog, Producers};
use crate::types::Offset;

/// The batches of one replica in order; `base` is the log start.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    pub base: Offset,
    pub batches: Vec<BatchMeta>,
}

impl Disk {
    pub fn end(&self) -> Offset {
        self.batches.last().map_or(self.base, BatchMeta::next_offset)
    }

    pub fn cut(&mut self, to: Offset) {
        self.batches.retain(|b| b.next_offset() <= to);
        assert_eq!(self.end(), to, "logs are cut between batches");
    }

    pub fn restart_at(&mut self, start: Offset) {
        *self = Disk { base: start, batches: Vec::new() };
    }

    /// What the disk would say when it opens this log.
    pub fn loaded(&self, high_watermark: Offset) -> LoadedLog {
        let mut epochs = EpochCache::default();
        let mut producers = Producers::default();
        for batch in &self.batches {
            epochs.assign(batch.leader_epoch, batch.base_offset);
            producers.appended(batch);
        }
        let (log_start, log_end) = (self.base, self.end());
        LoadedLog { log_start, log_end, high_watermark, epochs, producers }
    }
}
