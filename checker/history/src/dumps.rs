//! `dumps/`: replicas' logs, one line a batch, values as ranges.
//!
//! A dump's header says which replica and when; `same_as` saves writing again what another dump
//! already holds below an offset.

use std::{path::PathBuf, slice};

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    event::BatchId,
    lines::Line,
    types::{Key, LeaderEpoch, NodeId, Offset, TimeNs, Value, check_offset},
};

/// When a dump was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// Before a node was started again: what the start may truncate.
    BeforeRestart,
    /// Before a cut or pause was healed.
    BeforeHeal,
    /// At the end, after recovery: the whole log.
    Final,
}

/// The first line of a dump.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DumpHeader {
    /// When in the life of the replica.
    pub moment: Moment,
    /// When the file was read, nanoseconds of the run.
    pub at: TimeNs,
    /// The replica's node.
    pub node: NodeId,
    /// The key.
    pub key: Key,
    /// Topic name.
    pub topic: String,
    /// Partition number.
    pub partition: i32,
    /// First offset that the dump speaks of; below it the dump says nothing.
    pub from: Offset,
    /// Log start offset, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_start: Option<Offset>,
    /// High watermark that the replica had, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hw: Option<Offset>,
    /// The leader epoch checkpoint: pairs of epoch and its first offset.
    #[serde(default)]
    pub epochs: Vec<(LeaderEpoch, Offset)>,
    /// Batches from `from` up to an offset are those of another dump.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<SameAs>,
}

/// Batches that stand in another dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SameAs {
    /// The other dump, relative to the `dumps` folder; it has no `same_as` itself.
    pub file: PathBuf,
    /// Every batch that begins below this offset.
    pub to: Offset,
}

/// One batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DumpBatch {
    /// Offset of its first record.
    pub base_offset: Offset,
    /// Offset of its last record.
    pub last_offset: Offset,
    /// Leader epoch that it was appended under.
    pub epoch: LeaderEpoch,
    /// Producer id, -1 for none.
    pub producer_id: i64,
    /// Producer epoch, -1 for none.
    pub producer_epoch: i16,
    /// Sequence of its first record, -1 for none.
    pub sequence: i32,
    /// Whether it holds control records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// CRC as stored.
    pub crc: u32,
    /// What is wrong with its bytes: CRC mismatch, unreadable records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<Box<str>>,
    /// Its values in offset order; none for control records.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub values: Values,
    /// Offsets of its records relative to the base, when they are not 0, 1, 2, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_deltas: Option<Box<[i32]>>,
}

impl Line for DumpBatch {
    const KIND: &'static str = "dump";
    const FORMAT: u64 = 1;
    type Header = DumpHeader;

    fn check(&self) -> Result<(), String> {
        let of =
            |field, offset| check_offset(offset).map_err(|why| format!("field `{field}`: {why}"));
        let base = of("base_offset", self.base_offset)?;
        let last = of("last_offset", self.last_offset)?;
        if last - base >= Self::MOST_OFFSETS {
            return Err(format!(
                "field `last_offset`: a batch of {base} to {last} is longer than {} offsets",
                Self::MOST_OFFSETS
            ));
        }
        let outside = |delta: &&i32| i64::from(**delta) < 0 || i64::from(**delta) > last - base;
        match self.offset_deltas.iter().flatten().find(outside) {
            Some(delta) => Err(format!("field `offset_deltas`: {delta} is outside of the batch")),
            None => Ok(()),
        }
    }
}

/// The values of a batch in offset order. There are millions of batches in a long run, and nearly
/// all have one run of values: that takes no memory of its own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Vec<ValueRun>")]
pub struct Values(Runs);

#[derive(Clone, Debug, PartialEq)]
enum Runs {
    One(ValueRun),
    Several(Box<[ValueRun]>),
}

impl Values {
    /// The runs.
    pub fn runs(&self) -> &[ValueRun] {
        match &self.0 {
            Runs::One(run) => slice::from_ref(run),
            Runs::Several(runs) => runs,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs().is_empty()
    }
}

impl Default for Values {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<ValueRun>> for Values {
    fn from(runs: Vec<ValueRun>) -> Self {
        Self(match runs[..] {
            [run] => Runs::One(run),
            _ => Runs::Several(runs.into()),
        })
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.runs().serialize(serializer)
    }
}

/// Values of neighbouring records: one value, `[first, count, step]`, or null for a record whose
/// payload is not one of the run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "no value, [first, count, step] or null")]
pub enum ValueRun {
    /// One value.
    One(Value),
    /// `first`, `first + step`, ... `count` values in all.
    Run(Value, u32, Value),
    /// A payload that is not one of the run's.
    Unreadable(()),
}

impl DumpBatch {
    /// The most offsets that a batch may span: many times what its bytes may hold of records.
    pub const MOST_OFFSETS: i64 = 1 << 20;

    /// Its identity: what makes a repeat a repeat (rule 42).
    pub fn id(&self) -> BatchId {
        BatchId {
            producer_id: self.producer_id,
            producer_epoch: self.producer_epoch,
            sequence: self.sequence,
        }
    }

    /// The first offset after it.
    pub fn end(&self) -> Offset {
        self.last_offset.saturating_add(1)
    }

    /// Every record: offset and value, `None` where the payload is not one of the run's.
    pub fn records(&self) -> impl Iterator<Item = (Offset, Option<Value>)> + '_ {
        let values = self.values.runs().iter().flat_map(|run| {
            let (first, count, step) = match *run {
                ValueRun::One(value) => (Some(value), 1, 0),
                ValueRun::Run(first, count, step) => (Some(first), count, step),
                ValueRun::Unreadable(()) => (None, 1, 0),
            };
            let nth = move |first: Value, n: i64| first.wrapping_add(n.wrapping_mul(step));
            (0..i64::from(count)).map(move |n| first.map(|first| nth(first, n)))
        });
        // A batch has no more records than offsets, whatever its runs say.
        let most = usize::try_from(self.end().saturating_sub(self.base_offset)).unwrap_or(0);
        values.take(most).enumerate().map(|(n, value)| (self.offset_of(n), value))
    }

    fn offset_of(&self, n: usize) -> Offset {
        let delta = match &self.offset_deltas {
            Some(deltas) => deltas.get(n).copied().map_or(n as i64, i64::from),
            None => n as i64,
        };
        self.base_offset.saturating_add(delta)
    }
}

/// Packs values into runs.
pub fn pack_values(values: impl IntoIterator<Item = Option<Value>>) -> Values {
    let mut runs: Vec<ValueRun> = Vec::new();
    for value in values {
        let Some(value) = value else {
            runs.push(ValueRun::Unreadable(()));
            continue;
        };
        if !runs.last_mut().is_some_and(|run| extend(run, value)) {
            runs.push(ValueRun::One(value));
        }
    }
    runs.into()
}

fn extend(run: &mut ValueRun, value: Value) -> bool {
    match *run {
        ValueRun::One(first) => {
            *run = ValueRun::Run(first, 2, value.wrapping_sub(first));
            true
        }
        ValueRun::Run(first, count, step) => {
            let next = first.wrapping_add(i64::from(count).wrapping_mul(step));
            if value == next {
                *run = ValueRun::Run(first, count + 1, step);
            }
            value == next
        }
        ValueRun::Unreadable(()) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn batch(values: Values, offset_deltas: Option<Vec<i32>>) -> DumpBatch {
        DumpBatch {
            base_offset: 100,
            last_offset: 150,
            epoch: 0,
            producer_id: -1,
            producer_epoch: -1,
            sequence: -1,
            control: false,
            crc: 0,
            damage: None,
            values,
            offset_deltas: offset_deltas.map(Into::into),
        }
    }

    #[test]
    fn a_clients_values_pack_into_one_run() {
        let runs = pack_values([3, 13, 23, 33].map(Some));
        assert_eq!(runs.runs(), [ValueRun::Run(3, 4, 10)]);
        assert_eq!(serde_json::to_string(&runs).expect("JSON"), "[[3,4,10]]");
    }

    #[test]
    fn deltas_place_records_of_a_compacted_batch() {
        let runs = vec![ValueRun::One(7), ValueRun::Unreadable(()), ValueRun::One(9)];
        let records: Vec<_> = batch(runs.into(), Some(vec![0, 4, 10])).records().collect();
        assert_eq!(records, [(100, Some(7)), (104, None), (110, Some(9))]);
    }

    /// A run of ten minutes at 1,000 sends/s has 640,000 of them.
    #[test]
    fn a_batch_is_small() {
        assert!(size_of::<DumpBatch>() <= 96, "{} bytes", size_of::<DumpBatch>());
    }

    proptest! {
        #[test]
        fn packing_loses_nothing(values in vec(proptest::option::of(-5i64..5), 0..40)) {
            let unpacked: Vec<_> =
                batch(pack_values(values.clone()), None).records().map(|(_, v)| v).collect();
            prop_assert_eq!(unpacked, values);
        }
    }
}
