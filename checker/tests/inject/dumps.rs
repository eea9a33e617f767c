//! Anomalies in what replicas hold.

use std::{collections::BTreeSet, sync::Arc};

use highwater_history::{
    Key, Offset, Value,
    dumps::{DumpBatch, Moment, ValueRun},
    event::{Ack, BatchId, EventKind, Function, MicroOp},
};

use super::{Counts, Place, Run};

impl Run {
    fn dumps_of(&mut self, key: &Key) -> impl Iterator<Item = (Moment, i32, &mut Vec<DumpBatch>)> {
        let of_key = self.evidence.dumps.iter_mut().filter(|(_, dump)| dump.header.key == *key);
        of_key
            .map(|(_, dump)| (dump.header.moment, dump.header.node, Arc::make_mut(&mut dump.lines)))
    }

    /// Batches of one record each, in the leader's final log, with offset and value.
    pub fn single_records(&self, place: &Place) -> Vec<(Offset, Value)> {
        let log = self.final_log(&place.key, place.leader).unwrap_or_default();
        let single = log.iter().filter(|batch| batch.base_offset == batch.last_offset);
        single
            .filter_map(|batch| batch.records().next())
            .filter_map(|(o, v)| Some((o, v?)))
            .collect()
    }

    /// Appends a batch to every final dump of a key, and lets it be committed.
    fn append(&mut self, place: &Place, batch: &DumpBatch) {
        for (_, _, lines) in self.dumps_of(&place.key).filter(|(m, ..)| *m == Moment::Final) {
            lines.push(batch.clone());
        }
        let outcome = self.evidence.outcome.as_mut().expect("a place has an outcome");
        let at_end = outcome.partitions.get_mut(&place.key).expect("a place is known");
        (at_end.hw, at_end.leo) = (Some(batch.end()), Some(batch.end()));
    }
}

/// The last batch of its producer in a log, of one record: its place in the log.
fn last_of_its_producer(log: &[DumpBatch]) -> Option<&DumpBatch> {
    let mut seen = BTreeSet::new();
    let (last, others) = log.split_last()?;
    seen.insert(last.producer_id);
    let mut others = others.iter().rev();
    others.find(|batch| seen.insert(batch.producer_id) && batch.base_offset == batch.last_offset)
}

pub fn drop_record(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let offset = last_of_its_producer(run.final_log(&place.key, place.leader)?)?.base_offset;
    for (_, _, lines) in run.dumps_of(&place.key) {
        lines.retain(|batch| batch.base_offset != offset);
    }
    Some([("lost-write", 1), ("phantom-read", 1)].into())
}

pub fn swap_values(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let records = run.single_records(&place);
    let [(one, first), (other, second)] = records[records.len().checked_sub(2)?..] else {
        return None;
    };
    for (_, _, lines) in run.dumps_of(&place.key) {
        for batch in lines {
            if batch.base_offset == one {
                batch.values = vec![ValueRun::One(second)].into();
            } else if batch.base_offset == other {
                batch.values = vec![ValueRun::One(first)].into();
            }
        }
    }
    Some([("inconsistent-offsets", 2), ("phantom-read", 2)].into())
}

fn copy_of_last(run: &Run, place: &Place) -> Option<DumpBatch> {
    let (offset, _) = run.single_records(place).pop()?;
    let log = run.final_log(&place.key, place.leader)?;
    let batch = log.iter().find(|batch| batch.base_offset == offset)?;
    let epoch = log.last()?.epoch;
    Some(DumpBatch { base_offset: place.end, last_offset: place.end, epoch, ..batch.clone() })
}

pub fn append_again(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let copy = copy_of_last(run, &place)?;
    let (producer_id, producer_epoch, sequence) = (-1, -1, -1);
    run.append(&place, &DumpBatch { producer_id, producer_epoch, sequence, ..copy });
    // Another identity is another send: permitted (c.6).
    Some(Counts::new())
}

pub fn repeat_batch(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let copy = copy_of_last(run, &place).filter(|copy| copy.sequence >= 0)?;
    run.append(&place, &copy);
    Some([("duplicate", 1), ("idempotence-broken", 1)].into())
}

pub fn change_checksum(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let (offset, _) = run.single_records(&place).pop()?;
    let leader = place.leader;
    let mut followers = run
        .dumps_of(&place.key)
        .filter(|(moment, node, _)| *moment == Moment::Final && *node != leader);
    let (_, _, lines) = followers.next()?;
    lines.iter_mut().find(|batch| batch.base_offset == offset)?.crc ^= 1;
    Some([("divergence", 1), ("lineage", 1)].into())
}

pub fn bend_checkpoint(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let mut dumps = run.evidence.dumps.iter_mut().map(|(_, dump)| &mut dump.header);
    let header = dumps.find(|header| {
        header.moment == Moment::Final && header.key == place.key && header.node == place.leader
    })?;
    let (epoch, start) = *header.epochs.last()?;
    header.epochs.push((epoch, start + 1));
    Some([("lineage", 1)].into())
}

pub fn keep_failed(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let value = run.fresh_value();
    let copy = copy_of_last(run, &place)?;
    let id = BatchId { producer_id: -1, producer_epoch: -1, sequence: -1 };
    let batch = DumpBatch {
        values: vec![ValueRun::One(value)].into(),
        producer_id: id.producer_id,
        producer_epoch: id.producer_epoch,
        sequence: id.sequence,
        ..copy
    };
    run.append(&place, &batch);
    let send = MicroOp::Send { key: place.key, value, ack: Ack::None };
    run.end_operation(1, (Function::Send, EventKind::Fail), vec![send.clone()], send);
    Some([("failed-yet-visible", 1)].into())
}
