//! Batches that are in the log and not yet known to be committed (rule 75).

use std::collections::VecDeque;

use highwater_node_core::metadata::{Delta, Replay, ReplayError};
use highwater_node_core::types::Offset;

use super::DecodedBatch;

/// The tail of the log, in order.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    batches: VecDeque<DecodedBatch>,
}

impl Backlog {
    /// Adds what was appended.
    pub(crate) fn push(&mut self, batch: DecodedBatch) {
        let end = self.batches.back().map(|last| last.span.end);
        debug_assert!(end.is_none_or(|end| end <= batch.span.base), "batches come in order");
        self.batches.push_back(batch);
    }

    /// Forgets what was cut.
    pub(crate) fn truncate(&mut self, end: Offset) {
        self.batches.retain(|batch| batch.span.end <= end);
    }

    /// Applies what lies below the high watermark; what it changed is added to `delta`. Gives the
    /// batches that were applied.
    pub(crate) fn commit(
        &mut self,
        high_watermark: Offset,
        replay: &mut Replay,
        delta: &mut Delta,
    ) -> Result<Vec<DecodedBatch>, ReplayError> {
        let mut applied = Vec::new();
        while self.batches.front().is_some_and(|batch| batch.span.end <= high_watermark) {
            let batch = self.batches.pop_front().expect("a front was seen");
            for (at, record) in (batch.span.base.0..).zip(&batch.records) {
                replay.apply(Offset(at), record.clone(), delta)?;
            }
            replay.seen(batch.span.end);
            applied.push(batch);
        }
        Ok(applied)
    }
}
