//! The broker's side of the quorum: follows the metadata log and knows what of it is committed.

use super::fetch::MetadataFetch;
use crate::replica::{EpochCache, EpochEnd};
use crate::rule::truncation::cut_point;
use crate::types::{BrokerId, LeaderEpoch, Offset};

/// A follower of the metadata log that does not vote.
#[derive(Clone, Debug)]
pub struct Observer {
    id: BrokerId,
    epoch: LeaderEpoch,
    leader: Option<BrokerId>,
    epochs: EpochCache,
    log_end: Offset,
    high_watermark: Option<Offset>,
}

/// Where one batch of an answer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSpan {
    /// Its first offset.
    pub base: Offset,
    /// The offset after its last record.
    pub end: Offset,
    /// The epoch of the leader that wrote it.
    pub epoch: LeaderEpoch,
}

/// An answer that no correct leader gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObserverError {
    /// A batch does not continue the log (rule 13).
    #[error("the metadata log ends at {log_end}, the answer goes on at {base}")]
    Gap {
        /// The end of this log.
        log_end: Offset,
        /// Where the batch starts.
        base: Offset,
    },
    /// The leader wants committed metadata to be cut (rule 72).
    #[error(
        "the leader's metadata log ends at {cut}, but everything below {committed} is committed"
    )]
    CutsCommitted {
        /// Where this log would be cut.
        cut: Offset,
        /// What is known to be committed.
        committed: Offset,
    },
}

impl Observer {
    /// An observer with this much log on disk; nothing of it is known to be committed.
    pub fn new(id: BrokerId, log_end: Offset, epochs: EpochCache) -> Observer {
        let epoch = epochs.latest().unwrap_or_default();
        Observer { id, epoch, leader: None, epochs, log_end, high_watermark: None }
    }

    /// What to ask the leader.
    pub fn fetch(&self) -> MetadataFetch {
        MetadataFetch {
            replica: self.id,
            offset: self.log_end,
            last_epoch: self.epochs.latest(),
            current_epoch: Some(self.epoch),
        }
    }

    /// Someone named the leader of an epoch; older epochs than the known one are ignored.
    pub fn on_leader(&mut self, epoch: LeaderEpoch, leader: Option<BrokerId>) {
        if epoch > self.epoch {
            self.epoch = epoch;
            self.leader = leader;
        } else if epoch == self.epoch && leader.is_some() {
            self.leader = leader;
        }
    }

    /// The leader answered with these batches; they are to be appended in this order. Gives what
    /// is committed of the own log afterwards.
    pub fn on_records(
        &mut self,
        batches: &[BatchSpan],
        high_watermark: Offset,
    ) -> Result<Offset, ObserverError> {
        for batch in batches {
            if batch.base != self.log_end {
                return Err(ObserverError::Gap { log_end: self.log_end, base: batch.base });
            }
            self.epochs.assign(batch.epoch, batch.base);
            self.log_end = batch.end;
        }
        let known = self.high_watermark.unwrap_or(Offset(0));
        let committed = high_watermark.min(self.log_end).max(known);
        self.high_watermark = Some(committed);
        Ok(committed)
    }

    /// The leader's log differs. Gives where to cut: the end of the largest common epoch (rule 9).
    pub fn on_diverging(&mut self, theirs: EpochEnd) -> Result<Offset, ObserverError> {
        // Not through the table of rules: its mutants are about partitions.
        let cut = cut_point(&self.epochs, self.log_end, theirs);
        let committed = self.high_watermark.unwrap_or(Offset(0));
        if cut < committed {
            return Err(ObserverError::CutsCommitted { cut, committed });
        }
        self.epochs.truncate(cut);
        self.log_end = cut;
        Ok(cut)
    }

    /// The leader of the newest epoch that it heard of, if known.
    pub fn leader(&self) -> Option<BrokerId> {
        self.leader
    }

    /// The newest epoch that it heard of.
    pub fn epoch(&self) -> LeaderEpoch {
        self.epoch
    }

    /// The end of its own log.
    pub fn log_end(&self) -> Offset {
        self.log_end
    }

    /// What it knows to be committed; `None` until a leader has said.
    pub fn high_watermark(&self) -> Option<Offset> {
        self.high_watermark
    }

    /// Checks the whole state; panics with the invariant that does not hold.
    pub fn validate(&self) {
        assert!(self.high_watermark <= Some(self.log_end), "more is committed than held");
        assert!(self.epochs.is_ordered(), "epochs and start offsets rise together");
        assert!(self.epochs.latest() <= Some(self.epoch), "the log is of a newer epoch");
    }
}
