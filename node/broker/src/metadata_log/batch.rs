//! Batches of the metadata log: built by the leader, read by everyone.

use bytes::Bytes;
use highwater_log::batch::{Batch, BatchBuilder, BatchError, Batches};
use highwater_node_core::metadata::Record;
use highwater_node_core::quorum::BatchSpan;
use highwater_node_core::types::{BrokerId, LeaderEpoch, Offset};
use highwater_wire::messages::LeaderChangeMessage;
use highwater_wire::messages::leader_change_message::Voter;
use highwater_wire::metadata::{ControlRecord, MetadataRecord, RecordError};
use thiserror::Error;

use super::from_wire::from_wire;
use super::to_wire::to_wire;

/// The most bytes that a compressed batch may hold: ours are not compressed, so not bounded.
const DECOMPRESSED_MAX_BYTES: usize = 64 << 20;

/// The metadata log holds what it cannot hold.
#[derive(Debug, Error)]
pub(crate) enum MetadataLogError {
    /// A batch is broken.
    #[error("a batch of the metadata log cannot be read: {0}")]
    Batch(#[from] BatchError),
    /// A record is broken or of a kind that this node does not know.
    #[error("the metadata record at offset {offset} cannot be read: {why}")]
    Record {
        /// Where.
        offset: i64,
        /// Why.
        why: RecordError,
    },
    /// A record belongs to a feature that this node does not have.
    #[error("the metadata record at offset {offset} belongs to a feature that this node lacks")]
    Feature {
        /// Where.
        offset: i64,
    },
}

/// One batch of the metadata log and its records; a control batch has none for the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodedBatch {
    /// Where it lies.
    pub(crate) span: BatchSpan,
    /// Its records, the first at the span's base.
    pub(crate) records: Vec<Record>,
}

/// The batch that makes these decisions, at their place in the log. `timestamp_ms` is Unix time.
pub(crate) fn records_batch(
    base: Offset,
    epoch: LeaderEpoch,
    timestamp_ms: i64,
    records: &[Record],
) -> Bytes {
    let mut batch = BatchBuilder::new().place(base.0, epoch.0);
    for record in records {
        batch.push(timestamp_ms, None, Some(&to_wire(record).encode()), &[]);
    }
    batch.build()
}

/// The control batch with which a leader begins its epoch.
pub(crate) fn leader_change(
    base: Offset,
    epoch: LeaderEpoch,
    timestamp_ms: i64,
    leader: BrokerId,
    voters: impl Iterator<Item = BrokerId>,
) -> Bytes {
    let voter = |id: BrokerId| Voter::default().with_voter_id(id.0);
    let message = LeaderChangeMessage::default()
        .with_leader_id(leader.0.into())
        .with_voters(voters.map(voter).collect())
        .with_granting_voters(vec![voter(leader)]);
    let record = ControlRecord::LeaderChange(message);
    let (key, value) = (record.key(), record.value());
    let batch = BatchBuilder::new().place(base.0, epoch.0).control();
    batch.record(timestamp_ms, Some(&key), Some(&value), &[]).build()
}

/// Reads whole batches.
pub(crate) fn decode(bytes: Bytes) -> Result<Vec<DecodedBatch>, MetadataLogError> {
    Batches::new(bytes).map(|batch| decode_batch(&batch?)).collect()
}

fn decode_batch(batch: &Batch) -> Result<DecodedBatch, MetadataLogError> {
    batch.check_crc()?;
    let header = batch.header();
    let span = BatchSpan {
        base: Offset(header.base_offset),
        end: Offset(header.next_offset()),
        epoch: LeaderEpoch(header.leader_epoch),
    };
    let mut records = Vec::new();
    if !header.is_control() {
        for record in batch.records(DECOMPRESSED_MAX_BYTES)? {
            let record = record?;
            let value = record.value.unwrap_or_default();
            records.push(decode_record(record.offset, &value)?);
        }
    }
    Ok(DecodedBatch { span, records })
}

fn decode_record(offset: i64, value: &[u8]) -> Result<Record, MetadataLogError> {
    let record =
        MetadataRecord::decode(value).map_err(|why| MetadataLogError::Record { offset, why })?;
    from_wire(record).ok_or(MetadataLogError::Feature { offset })
}
