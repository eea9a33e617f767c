//! What replicas hold: the final leader's log of a key, and every dump of it.

use std::path::{Path, PathBuf};

use highwater_history::{
    LeaderEpoch, NodeId, Offset, Value,
    dump_folder::WholeDump,
    dumps::{DumpBatch, DumpHeader, Moment},
    manifest::Kind,
    outcome::FinalPartition,
    samples::Said,
};

use crate::{
    evidence::Evidence,
    index::{Index, KeyIndex, reads::PollRun, records::RecordId},
    retention,
};

/// A dump and where it stands.
pub type Dump<'a> = (&'a Path, &'a WholeDump);

/// The log of the final leader after recovery: what the cluster remembers.
#[derive(Debug)]
pub struct FinalLog<'a> {
    /// The leader.
    pub node: NodeId,
    /// First offset that it speaks of.
    pub from: Offset,
    /// Its high watermark.
    pub hw: Offset,
    /// Its log end offset.
    pub end: Offset,
    /// First offsets of its leader epochs.
    pub epochs: Vec<(LeaderEpoch, Offset)>,
    batches: &'a [DumpBatch],
    /// What a final read returned, where that is all that tells of the log.
    read: Vec<(Offset, Option<Value>)>,
    places: Vec<Option<Offset>>,
    /// Records that stand in it a second time.
    pub again: Vec<(RecordId, Offset)>,
}

/// What a log holds at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing: beyond its ends, or a gap.
    Nothing,
    /// A payload that cannot be read.
    Unreadable,
    /// A value.
    Value(Value),
}

impl<'a> FinalLog<'a> {
    /// The final log of a key: its leader's after a recovery that left nothing to wish. As the dump
    /// shows it, or the final read where the target gives no dumps.
    pub fn of(
        evidence: &'a Evidence,
        index: &Index,
        key: &KeyIndex,
        dumps: &[Dump<'a>],
    ) -> Option<Self> {
        let outcome = evidence.outcome.as_ref()?;
        let recovery = outcome.recovery.as_ref()?;
        let missing = |known: &highwater_history::outcome::Missing| {
            known.key.as_ref().is_none_or(|of| *of == key.key)
        };
        if !recovery.recovered && recovery.missing.iter().any(missing) {
            return None;
        }
        let partition = outcome.partitions.get(&key.key)?;
        let node = partition.leader?;
        let (mut log, hw, log_start) = match evidence.cannot_have(Kind::Dumps) {
            true => (Self::of_final_read(node, partition, index, key)?, None, None),
            false => {
                let of_leader = |dump: &&Dump<'a>| {
                    dump.1.header.node == node && dump.1.header.moment == Moment::Final
                };
                let of_leader = dumps.iter().filter(of_leader);
                let (_, dump) = of_leader.max_by_key(|dump| dump.1.header.at)?;
                (Self::of_dump(dump, key), dump.header.hw, dump.header.log_start)
            }
        };
        // Whoever knew the high watermark last is right: it does not fall.
        let told = [hw, partition.hw, partition.final_read_to];
        log.hw = told.into_iter().flatten().max().unwrap_or(log.hw);
        let log_start = log_start.or_else(|| sampled_log_start(evidence, node, key));
        let told = [partition.log_start, log_start].into_iter().flatten();
        log.from = match told.max() {
            // Where nothing may delete, what is not there was not deleted.
            Some(start) if start >= log.from && !retention::may_delete(evidence, key) => 0,
            start => start.map_or(log.from, |start| start.max(log.from)),
        };
        Some(log)
    }

    /// What a final read that came to the end returned: of the log below the high watermark, all
    /// that a consumer is given. It tells nothing of batches.
    fn of_final_read(
        node: NodeId,
        partition: &FinalPartition,
        index: &Index,
        key: &KeyIndex,
    ) -> Option<Self> {
        let end = partition.final_read_to?;
        let of_reader = key.reads.polls().filter(|(run, _)| index.is_final_read(run.op));
        let (runs, read): (Vec<PollRun>, Vec<_>) = of_reader.unzip();
        let read = read.into_iter().flatten();
        let value = |record| Some(key.records.value(record));
        let mut read: Vec<_> =
            read.filter_map(|(offset, record)| Some((offset?, value(record)))).collect();
        let strange = key.payload_errors.iter().filter(|(op, _)| index.is_final_read(*op));
        read.extend(strange.map(|(_, error)| (error.offset, None)));
        read.sort_unstable_by_key(|(offset, _)| *offset);
        let epochs = runs.iter().flat_map(|run| key.reads.epochs_of(run));
        let mut log = Self {
            node,
            from: 0,
            hw: end,
            end,
            epochs: rising(epochs),
            batches: &[],
            read,
            places: vec![None; key.records.len()],
            again: Vec::new(),
        };
        log.place(key);
        Some(log)
    }

    fn of_dump(dump: &'a WholeDump, key: &KeyIndex) -> Self {
        let header = &dump.header;
        let from = header.from.max(header.log_start.unwrap_or(header.from));
        let end = dump.lines.last().map_or(from, DumpBatch::end);
        let mut log = Self {
            node: header.node,
            from,
            hw: header.hw.unwrap_or(end),
            end,
            epochs: header.epochs.clone(),
            batches: &dump.lines,
            read: Vec::new(),
            places: vec![None; key.records.len()],
            again: Vec::new(),
        };
        if log.epochs.is_empty() {
            let batches = dump.lines.iter();
            log.epochs = rising(batches.map(|batch| (batch.epoch, batch.base_offset)));
        }
        log.place(key);
        log
    }

    fn place(&mut self, key: &KeyIndex) {
        let data = self.batches.iter().filter(|batch| !batch.control);
        let held = data.flat_map(DumpBatch::records).chain(self.read.iter().copied());
        for (offset, value) in held {
            let Some(record) = value.and_then(|value| key.records.find(value)) else { continue };
            match &mut self.places[record as usize] {
                place @ None => *place = Some(offset),
                Some(_) => self.again.push((record, offset)),
            }
        }
    }

    /// Where the log holds a record, below the high watermark.
    pub fn committed_place(&self, record: RecordId) -> Option<Offset> {
        self.places[record as usize].filter(|offset| *offset < self.hw)
    }

    /// Where the log holds a record, at whatever place.
    pub fn place_of(&self, record: RecordId) -> Option<Offset> {
        self.places[record as usize]
    }

    /// What the log holds at an offset.
    pub fn at(&self, offset: Offset) -> Holds {
        let batch = self.batch_at(offset);
        let record = match batch {
            Some(batch) if batch.control => None,
            Some(batch) => batch.records().find(|(at, _)| *at == offset),
            None => {
                let at = self.read.binary_search_by_key(&offset, |(at, _)| *at);
                at.ok().map(|at| self.read[at])
            }
        };
        match record {
            Some((_, value)) => value.map_or(Holds::Unreadable, Holds::Value),
            None if batch.is_some_and(|batch| batch.damage.is_some()) => Holds::Unreadable,
            None => Holds::Nothing,
        }
    }

    /// The batch that covers an offset.
    pub fn batch_at(&self, offset: Offset) -> Option<&'a DumpBatch> {
        batch_at(self.batches, offset)
    }

    /// Its batches in offset order.
    pub fn batches(&self) -> &'a [DumpBatch] {
        self.batches
    }

    /// The first offset of an epoch: where the leader elected for it began to write.
    pub fn start_of_epoch(&self, epoch: LeaderEpoch) -> Offset {
        crate::leadership::start_of_epoch(&self.epochs, epoch, self.end)
    }
}

/// The highest log start that a replica told: below it everything had been deleted.
fn sampled_log_start(evidence: &Evidence, node: NodeId, key: &KeyIndex) -> Option<Offset> {
    let told = evidence.samples.iter().filter(|sample| sample.node == node);
    told.filter_map(|sample| match &sample.said {
        Said::Replica(state) if state.key == key.key => state.log_start,
        Said::Replica(_) | Said::Partition(_) | Said::Silent { .. } => None,
    })
    .max()
}

/// The batch that covers an offset, of batches in offset order.
pub fn batch_at(batches: &[DumpBatch], offset: Offset) -> Option<&DumpBatch> {
    let after = batches.partition_point(|batch| batch.base_offset <= offset);
    let batch = &batches[after.checked_sub(1)?];
    (offset <= batch.last_offset).then_some(batch)
}

/// Where each epoch begins, of epochs with offsets that they hold, in offset order.
fn rising(told: impl Iterator<Item = (LeaderEpoch, Offset)>) -> Vec<(LeaderEpoch, Offset)> {
    let mut epochs: Vec<(LeaderEpoch, Offset)> = Vec::new();
    for (epoch, offset) in told {
        if epochs.last().is_none_or(|(last, _)| *last < epoch) {
            epochs.push((epoch, offset));
        }
    }
    epochs
}

/// Every dump of a key.
pub fn dumps_of<'a>(evidence: &'a Evidence, key: &KeyIndex) -> Vec<Dump<'a>> {
    let of_key = |(_, dump): &&(PathBuf, WholeDump)| dump.header.key == key.key;
    let dumps = evidence.dumps.iter().filter(of_key);
    dumps.map(|(name, dump)| (name.as_path(), dump)).collect()
}

/// Which dumps hold a value, one phrase each, for findings: node, offset, moment and time.
pub fn holders_of(dumps: &[Dump<'_>], value: Value) -> Vec<String> {
    let held = dumps.iter().filter_map(|(name, dump)| {
        let mut records = dump.lines.iter().flat_map(DumpBatch::records);
        let (offset, _) = records.find(|(_, held)| *held == Some(value))?;
        let (node, name) = (dump.header.node, name.display());
        Some((dump.header.at, format!("node {node} at {offset} {} ({name})", when(&dump.header))))
    });
    let mut held: Vec<_> = held.collect();
    held.sort();
    held.into_iter().map(|(_, phrase)| phrase).collect()
}

/// What final dumps that do not hold a value have at its offset instead, one phrase each.
pub fn without(dumps: &[Dump<'_>], value: Value, offset: Offset) -> Vec<String> {
    let finals = dumps
        .iter()
        .filter(|(_, dump)| dump.header.moment == Moment::Final && dump.header.from <= offset);
    let lacking = finals.filter_map(|(_, dump)| {
        if dump.lines.iter().flat_map(DumpBatch::records).any(|(_, held)| held == Some(value)) {
            return None;
        }
        let node = dump.header.node;
        let end = dump.lines.last().map_or(dump.header.from, DumpBatch::end);
        let Some(batch) = batch_at(&dump.lines, offset) else {
            return Some(format!("node {node} has nothing there and ends at {end}"));
        };
        let held = batch.records().find(|(at, _)| *at == offset).and_then(|(_, held)| held);
        let held = held.map_or("something else".to_owned(), |held| held.to_string());
        Some(format!("node {node} has {held} of epoch {}", batch.epoch))
    });
    lacking.collect()
}

fn when(header: &DumpHeader) -> String {
    const NS_PER_MS: u64 = 1_000_000;
    let moment = match header.moment {
        Moment::BeforeRestart => "before a restart",
        Moment::BeforeHeal => "before a heal",
        Moment::Final => "at the end",
    };
    let ms = header.at / NS_PER_MS;
    format!("{moment}, {}.{:03} s", ms / 1000, ms % 1000)
}
