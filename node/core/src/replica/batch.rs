//! What the core knows of a record batch: its header, never its bytes.

use crate::types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId};

/// The header fields of one record batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchMeta {
    /// The offset of its first record; 0 in a client's batch.
    pub base_offset: Offset,
    /// The offset of its last record; the last delta in a client's batch.
    pub last_offset: Offset,
    /// The epoch that it was appended under (rule 3); meaningless in a client's batch.
    pub leader_epoch: LeaderEpoch,
    /// The largest timestamp in it, in Unix milliseconds.
    pub max_timestamp_ms: i64,
    /// Its size in bytes, header included.
    pub size_bytes: u32,
    /// Who wrote it, when the producer is idempotent.
    pub producer: Option<ProducerStamp>,
}

/// The identity of an idempotent producer's batch (rule 41).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerStamp {
    /// The producer.
    pub id: ProducerId,
    /// Its version.
    pub epoch: ProducerEpoch,
    /// The sequence number of the batch's first record.
    pub base_sequence: i32,
}

impl BatchMeta {
    /// The offset after its last record.
    pub fn next_offset(&self) -> Offset {
        self.last_offset.next()
    }

    /// The same batch at the offset and under the epoch that the leader gives it (rules 1, 3).
    pub fn placed(mut self, base: Offset, epoch: LeaderEpoch) -> BatchMeta {
        self.last_offset = Offset(base.0 + (self.last_offset.0 - self.base_offset.0));
        self.base_offset = base;
        self.leader_epoch = epoch;
        self
    }

    /// The sequence number of its last record; sequences go round from the largest `i32` to 0.
    pub fn last_sequence(&self, stamp: &ProducerStamp) -> i32 {
        let delta = self.last_offset.0 - self.base_offset.0;
        ((i64::from(stamp.base_sequence) + delta) & i64::from(i32::MAX)) as i32
    }
}
