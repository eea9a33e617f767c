//! What each replica's dumped log held at an offset.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use highwater_history::{
    FormatError, Key, LeaderEpoch, NodeId, Offset, TimeNs, Value,
    dumps::{DumpBatch, DumpHeader, Moment},
    lines::Lines,
};

/// The dumps of a run by file name.
#[derive(Default)]
pub(crate) struct Dumps {
    files: BTreeMap<PathBuf, Lines<DumpBatch>>,
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
    /// Reads every dump in `folder`; none when the folder is not there.
    pub(crate) fn read(folder: &Path) -> Result<Self, FormatError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(FormatError::io(folder, error)),
        };
        let mut files = BTreeMap::new();
        for entry in entries {
            let path = entry.map_err(|error| FormatError::io(folder, error))?.path();
            if let Some(name) = path.file_name() {
                files.insert(PathBuf::from(name), Lines::read(&path)?);
            }
        }
        Ok(Self { files })
    }

    /// What each dump of the key says of the offset; by replica, then by time.
    pub(crate) fn held(&self, key: &Key, offset: Offset) -> Vec<Holding> {
        let mut holdings: Vec<Holding> = self
            .files
            .values()
            .filter(|dump| dump.header.key == *key)
            .map(|dump| self.holding(dump, offset))
            .collect();
        holdings.sort_by_key(|holding| (holding.node, holding.at_ns));
        holdings
    }

    /// The lowest offset at which any dump of the key holds the value.
    pub(crate) fn offset_of(&self, key: &Key, value: Value) -> Option<Offset> {
        let dumps = self.files.values().filter(|dump| dump.header.key == *key);
        let records = dumps.flat_map(|dump| &dump.lines).flat_map(DumpBatch::records);
        records.filter(|(_, held)| *held == Some(value)).map(|(offset, _)| offset).min()
    }

    fn holding(&self, dump: &Lines<DumpBatch>, offset: Offset) -> Holding {
        let DumpHeader { node, moment, at, hw, .. } = dump.header;
        let (shared, own) = self.batches(dump);
        let last = own.last().or(shared.last());
        let leo = last.map_or(dump.header.from, |batch| batch.last_offset + 1);
        let held = if offset < dump.header.from {
            Held::BeforeStart
        } else if offset >= leo {
            Held::PastEnd
        } else {
            at_offset(own, offset).or_else(|| at_offset(shared, offset)).unwrap_or(Held::Gap)
        };
        Holding { node, moment, at_ns: at, hw, leo, held }
    }

    /// The batches of a dump: those that it shares with another one, and its own.
    fn batches<'a>(&'a self, dump: &'a Lines<DumpBatch>) -> (&'a [DumpBatch], &'a [DumpBatch]) {
        let shared = dump.header.same_as.as_ref().and_then(|same| {
            let other = &self.files.get(&same.file)?.lines;
            Some(&other[..other.partition_point(|batch| batch.base_offset < same.to)])
        });
        (shared.unwrap_or_default(), &dump.lines)
    }
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
