//! What each replica's dumped log held at an offset.

use highwater_history::{
    Key, LeaderEpoch, NodeId, Offset, TimeNs, Value,
    dump_folder::{DumpFolder, WholeDump},
    dumps::{DumpBatch, DumpHeader, Moment},
};

/// The dumps of a run.
#[derive(Default)]
pub(crate) struct Dumps {
    all: Vec<WholeDump>,
}

/// What one dump says of one offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holding {
    /// The replica.
    pub node: NodeId,
    /// When in the life of the replica the dump was taken.
    pub moment: Moment,
    /// When it was taken, nanoseconds of the run.
    pub at_ns: TimeNs,
    /// The replica's high watermark, where known.
    pub hw: Option<Offset>,
    /// The first offset after its last record.
    pub leo: Offset,
    /// What it held.
    pub held: Held,
}

/// What a log held at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// A record of the run.
    Record {
        /// Its value; none when the payload is not one of the run's.
        value: Option<Value>,
        /// The leader epoch that it was appended under.
        epoch: LeaderEpoch,
    },
    /// A control record.
    Control {
        /// The leader epoch that it was appended under.
        epoch: LeaderEpoch,
    },
    /// Nothing: the log ends at or below the offset.
    PastEnd,
    /// Nothing between two batches: compacted, or a hole.
    Gap,
    /// The dump does not speak of offsets this low.
    BeforeStart,
}

impl Dumps {
    /// The whole dumps of a folder.
    pub(crate) fn of(folder: DumpFolder) -> Self {
        Self { all: folder.dumps.into_iter().map(|(_, dump)| dump).collect() }
    }

    /// What each dump of the key says of the offset; by replica, then by time.
    pub(crate) fn held(&self, key: &Key, offset: Offset) -> Vec<Holding> {
        let mut holdings: Vec<Holding> = self
            .all
            .iter()
            .filter(|dump| dump.header.key == *key)
            .map(|dump| holding(dump, offset))
            .collect();
        holdings.sort_by_key(|holding| (holding.node, holding.at_ns));
        holdings
    }

    /// The lowest offset at which any dump of the key holds the value.
    pub(crate) fn offset_of(&self, key: &Key, value: Value) -> Option<Offset> {
        let dumps = self.all.iter().filter(|dump| dump.header.key == *key);
        let records = dumps.flat_map(|dump| dump.lines.iter()).flat_map(DumpBatch::records);
        records.filter(|(_, held)| *held == Some(value)).map(|(offset, _)| offset).min()
    }
}

fn holding(dump: &WholeDump, offset: Offset) -> Holding {
    let DumpHeader { node, moment, at, hw, from, .. } = dump.header;
    let leo = dump.lines.last().map_or(from, DumpBatch::end);
    let held = if offset < from {
        Held::BeforeStart
    } else if offset >= leo {
        Held::PastEnd
    } else {
        at_offset(&dump.lines, offset).unwrap_or(Held::Gap)
    };
    Holding { node, moment, at_ns: at, hw, leo, held }
}

fn at_offset(batches: &[DumpBatch], offset: Offset) -> Option<Held> {
    let after = batches.partition_point(|batch| batch.base_offset <= offset);
    let batch = batches[..after].last().filter(|batch| offset <= batch.last_offset)?;
    let epoch = batch.epoch;
    if batch.control {
        return Some(Held::Control { epoch });
    }
    let (_, value) = batch.records().find(|(at, _)| *at == offset)?;
    Some(Held::Record { value, epoch })
}
