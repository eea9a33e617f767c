//! Producer state as a function of the log (rule 45): what snapshots hold and replay rebuilds.

use std::collections::BTreeMap;

use bytes::Buf;

use crate::batch::{Batch, BatchHeader, NO_PRODUCER_ID};
use crate::store::{ProducerBatch, ProducerEntry};

/// How many batches of a producer are remembered (rule 42).
const REMEMBERED_BATCHES: usize = 5;
/// No transaction marker has been seen.
const NO_COORDINATOR_EPOCH: i32 = -1;
/// More than any marker's body.
const MARKER_MAX_BYTES: usize = 1024;

/// All producers of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Producers {
    entries: BTreeMap<i64, ProducerEntry>,
}

impl Producers {
    /// What a snapshot holds.
    pub(crate) fn from_snapshot(entries: Vec<ProducerEntry>) -> Producers {
        let keyed = entries.into_iter().map(|entry| (entry.producer_id, entry));
        Producers { entries: keyed.collect() }
    }

    /// Their states, by producer id.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = &ProducerEntry> {
        self.entries.values()
    }

    /// Takes one batch of the log into account.
    pub(crate) fn apply(&mut self, batch: &Batch) {
        let header = batch.header();
        if header.producer_id == NO_PRODUCER_ID {
            return;
        }
        let entry = self.entries.entry(header.producer_id).or_insert_with(|| unknown(header));
        if entry.producer_epoch != header.producer_epoch {
            entry.producer_epoch = header.producer_epoch;
            entry.batches.clear();
        }
        entry.last_timestamp = header.max_timestamp;
        if header.is_control() {
            end_transaction(entry, batch);
        } else {
            remember(entry, header);
        }
    }

    /// Forgets producers that were last heard of before `oldest` (Unix milliseconds) and have no
    /// open transaction.
    pub(crate) fn expire(&mut self, oldest: i64) {
        self.entries
            .retain(|_, entry| entry.open_transaction.is_some() || entry.last_timestamp >= oldest);
    }
}

fn unknown(header: &BatchHeader) -> ProducerEntry {
    ProducerEntry {
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        batches: Vec::new(),
        last_timestamp: header.max_timestamp,
        coordinator_epoch: NO_COORDINATOR_EPOCH,
        open_transaction: None,
    }
}

fn remember(entry: &mut ProducerEntry, header: &BatchHeader) {
    if entry.batches.len() == REMEMBERED_BATCHES {
        entry.batches.remove(0);
    }
    entry.batches.push(ProducerBatch {
        base_sequence: header.base_sequence,
        last_sequence: header.last_sequence(),
        base_offset: header.base_offset,
        last_offset: header.last_offset(),
        timestamp: header.max_timestamp,
    });
    if header.is_transactional() && entry.open_transaction.is_none() {
        entry.open_transaction = Some(header.base_offset);
    }
}

fn end_transaction(entry: &mut ProducerEntry, batch: &Batch) {
    let Some(epoch) = marker_coordinator_epoch(batch) else { return };
    entry.coordinator_epoch = epoch;
    entry.open_transaction = None;
}

/// The coordinator epoch in a transaction marker; none for other control batches.
fn marker_coordinator_epoch(batch: &Batch) -> Option<i32> {
    let record = batch.records(MARKER_MAX_BYTES).ok()?.next()?.ok()?;
    let (mut key, mut value) = (record.key?, record.value?);
    if key.len() < 4 || value.len() < 6 {
        return None;
    }
    let (_version, kind) = (key.get_i16(), key.get_i16());
    // 0 is abort, 1 is commit; the metadata log's control records have larger numbers.
    let is_marker = matches!(kind, 0 | 1);
    let _version = value.get_i16();
    is_marker.then(|| value.get_i32())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::BatchBuilder;

    fn apply(producers: &mut Producers, builder: BatchBuilder) {
        let mut bytes = builder.build();
        producers.apply(&Batch::split_from(&mut bytes).unwrap());
    }

    fn data(offset: i64, epoch: i16, sequence: i32) -> BatchBuilder {
        let batch = BatchBuilder::new().place(offset, 0).producer(7, epoch, sequence);
        batch.record(offset, None, None, &[]).record(offset, None, None, &[])
    }

    fn marker(offset: i64, epoch: i16, coordinator_epoch: i32) -> BatchBuilder {
        let value = [&[0, 0][..], &coordinator_epoch.to_be_bytes()].concat();
        let batch = BatchBuilder::new().place(offset, 0).producer(7, epoch, -1);
        batch.transactional().control().record(offset, Some(&[0, 0, 0, 1]), Some(&value), &[])
    }

    fn only(producers: &Producers) -> &ProducerEntry {
        assert_eq!(producers.entries().len(), 1);
        producers.entries().next().unwrap()
    }

    #[test]
    fn rule_42_the_last_five_batches_are_remembered() {
        let mut producers = Producers::default();
        for number in 0..7 {
            apply(&mut producers, data(i64::from(number) * 2, 0, number * 2));
        }
        let batches = &only(&producers).batches;
        let sequences: Vec<i32> = batches.iter().map(|batch| batch.base_sequence).collect();
        assert_eq!(sequences, [4, 6, 8, 10, 12]);
        assert_eq!((batches[4].last_sequence, batches[4].last_offset), (13, 13));
    }

    #[test]
    fn rule_41_a_new_epoch_forgets_the_batches_of_the_old() {
        let mut producers = Producers::default();
        apply(&mut producers, data(0, 0, 0));
        apply(&mut producers, data(2, 1, 0));
        let entry = only(&producers);
        assert_eq!((entry.producer_epoch, entry.batches.len()), (1, 1));
    }

    #[test]
    fn rule_49_a_marker_ends_the_transaction() {
        let mut producers = Producers::default();
        apply(&mut producers, data(4, 0, 0).transactional());
        apply(&mut producers, data(6, 0, 2).transactional());
        assert_eq!(only(&producers).open_transaction, Some(4));
        apply(&mut producers, marker(8, 0, 3));
        let entry = only(&producers);
        assert_eq!((entry.open_transaction, entry.coordinator_epoch), (None, 3));
        assert_eq!(entry.batches.len(), 2);
    }

    #[test]
    fn rule_44_only_idle_producers_without_transaction_expire() {
        let mut producers = Producers::default();
        apply(&mut producers, data(4, 0, 0).transactional());
        producers.expire(100);
        assert_eq!(producers.entries().len(), 1);
        apply(&mut producers, marker(8, 0, 3));
        producers.expire(8);
        assert_eq!(producers.entries().len(), 1);
        producers.expire(9);
        assert_eq!(producers.entries().len(), 0);
    }

    #[test]
    fn batches_without_producer_leave_no_trace() {
        let mut producers = Producers::default();
        apply(&mut producers, BatchBuilder::new().record(0, None, None, &[]));
        assert_eq!(producers, Producers::default());
    }
}
