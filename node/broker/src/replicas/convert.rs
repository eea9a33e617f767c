//! Between the store's plain numbers and the core's types.

use std::collections::BTreeMap;

use highwater_log::batch::BatchHeader;
use highwater_log::store::{LogState, Opened, ProducerBatch};
use highwater_node_core::replica::{
    BatchMeta, EpochCache, LoadedLog, ProducerEntry, ProducerStamp, Producers, Remembered,
};
use highwater_node_core::types::{LeaderEpoch, Offset, ProducerEpoch, ProducerId};

/// What the core wants to know of a batch.
pub(crate) fn batch_meta(header: &BatchHeader) -> BatchMeta {
    let producer = header.has_producer_id().then_some(ProducerStamp {
        id: ProducerId(header.producer_id),
        epoch: ProducerEpoch(header.producer_epoch),
        base_sequence: header.base_sequence,
    });
    BatchMeta {
        base_offset: Offset(header.base_offset),
        last_offset: Offset(header.last_offset()),
        leader_epoch: LeaderEpoch(header.leader_epoch),
        max_timestamp_ms: header.max_timestamp,
        size_bytes: header.size() as u32,
        producer: producer.filter(|_| !header.is_control()),
    }
}

/// What the core begins with over a log that was opened.
pub(crate) fn loaded(opened: Opened) -> LoadedLog {
    let Opened { state, high_watermark, .. } = opened;
    let epochs = state.epochs.iter().map(|e| (LeaderEpoch(e.epoch), Offset(e.start_offset)));
    LoadedLog {
        log_start: Offset(state.log_start),
        log_end: Offset(state.log_end),
        high_watermark: Offset(high_watermark),
        epochs: EpochCache::new(epochs.collect()),
        producers: producers(&state),
    }
}

/// The producers of a log that was opened or cut; one without data batches has no sequence to
/// compare with, so it is left out.
pub(crate) fn producers(state: &LogState) -> Producers {
    let written = state.producers.iter().filter(|entry| !entry.batches.is_empty());
    let entries: BTreeMap<ProducerId, ProducerEntry> = written
        .map(|entry| {
            let known = ProducerEntry {
                epoch: ProducerEpoch(entry.producer_epoch),
                batches: entry.batches.iter().map(remembered).collect(),
                last_timestamp_ms: entry.last_timestamp,
            };
            (ProducerId(entry.producer_id), known)
        })
        .collect();
    Producers::new(entries)
}

fn remembered(batch: &ProducerBatch) -> Remembered {
    Remembered {
        base_sequence: batch.base_sequence,
        last_sequence: batch.last_sequence,
        base_offset: Offset(batch.base_offset),
        last_offset: Offset(batch.last_offset),
        timestamp_ms: batch.timestamp,
    }
}
