//! Dumps of replicas' logs, from their files.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use highwater_history::{
    FormatError,
    dumps::{DumpBatch, DumpHeader, Moment, SameAs, Values, pack_values},
    lines::LineWriter,
};
use highwater_log::batch::Batch;
use highwater_workloads::{Catalog, Key, value};

use super::segments;
use crate::{
    clock::RunClock,
    cluster::{Cluster, NodeId},
    nemesis::{ClusterView, Partition},
};

/// Records of a batch are ours and small; more is damage.
const DECOMPRESSED_LIMIT: usize = 64 * 1024 * 1024;

/// Takes dumps into a run folder's `dumps/`.
#[derive(Debug, Clone)]
pub struct Dumper {
    /// The folder `dumps/`.
    pub folder: PathBuf,
    /// The run's id, as payloads name it.
    pub run_id: String,
    /// The keys of the run.
    pub catalog: Arc<Catalog>,
    /// Whose log directories to read.
    pub cluster: Arc<Cluster>,
    /// The run's clock.
    pub clock: RunClock,
    /// Numbers the dumps.
    pub next: Arc<AtomicU64>,
}

/// A replica's batches and the file that they were written to.
struct Written {
    file: PathBuf,
    batches: Vec<DumpBatch>,
}

impl Dumper {
    /// Dumps the suffix of every replica of `node` from the high watermark on that it told last:
    /// what stands above may be cut, whatever its leader has by now. One that told none is dumped
    /// whole, and so is one that ends below: it has lost what it told, and the dump must say where.
    ///
    /// # Errors
    /// When a dump cannot be written.
    pub fn suffixes(
        &self,
        node: NodeId,
        moment: Moment,
        view: &ClusterView,
    ) -> Result<(), FormatError> {
        for key in self.catalog.keys() {
            let topic = self.catalog.topic(key).name.clone();
            let partition = Partition { topic, index: self.catalog.partition(key) };
            let told =
                view.partitions.get(&partition).and_then(|seen| seen.told_hw.get(&node).copied());
            let Some(folder) = self.replica_folder(node, key) else { continue };
            let end = segments::end(&folder).map_err(|source| FormatError::io(&folder, source))?;
            let from = told.filter(|told| end.is_some_and(|end| *told <= end)).unwrap_or(0);
            self.dump((node, key), &folder, moment, from, None)?;
        }
        Ok(())
    }

    /// Dumps every replica of the run as a whole; those of a key that agree are written once.
    ///
    /// # Errors
    /// When a dump cannot be written.
    pub fn finals(&self, view: &ClusterView) -> Result<(), FormatError> {
        for key in self.catalog.keys() {
            let topic = self.catalog.topic(key).name.clone();
            let partition = Partition { topic, index: self.catalog.partition(key) };
            let leader = view.partitions.get(&partition).and_then(|seen| seen.leader);
            let mut nodes: Vec<NodeId> =
                self.cluster.plan().brokers().map(|node| node.id).collect();
            nodes.sort_by_key(|node| (Some(*node) != leader, *node));
            let mut first: Option<Written> = None;
            for node in nodes {
                let Some(folder) = self.replica_folder(node, key) else { continue };
                let written = self.dump((node, key), &folder, Moment::Final, 0, first.as_ref())?;
                first.get_or_insert(written);
            }
        }
        Ok(())
    }

    fn replica_folder(&self, node: NodeId, key: Key) -> Option<PathBuf> {
        replica_folder(&self.cluster, &self.catalog, node, key)
    }

    fn dump(
        &self,
        (node, key): (NodeId, Key),
        folder: &Path,
        moment: Moment,
        from: i64,
        other: Option<&Written>,
    ) -> Result<Written, FormatError> {
        let at = self.clock.now_ns();
        let batches = self.read(key, folder, from)?;
        let shared = other.and_then(|other| same_as(other, &batches));
        let header = DumpHeader {
            moment,
            at,
            node: node.0,
            key: self.catalog.name(key).into(),
            topic: self.catalog.topic(key).name.clone(),
            partition: self.catalog.partition(key),
            from,
            log_start: segments::log_start(folder),
            hw: None,
            epochs: segments::epochs(folder),
            same_as: shared.clone(),
        };
        let nth = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{nth:04}-node-{node}-{}.jsonl.zst", self.catalog.name(key));
        let path = self.folder.join(&name);
        let mut writer = LineWriter::<DumpBatch>::create(&path, &header)?;
        let from = shared.map_or(i64::MIN, |same| same.to);
        for batch in batches.iter().filter(|batch| batch.base_offset >= from) {
            writer.write(batch)?;
        }
        writer.finish()?;
        Ok(Written { file: name.into(), batches })
    }

    fn read(&self, key: Key, folder: &Path, from: i64) -> Result<Vec<DumpBatch>, FormatError> {
        let names = (&*self.run_id, self.catalog.name(key));
        let mut batches = Vec::new();
        segments::batches(folder, from, |batch| {
            if batch.header().last_offset() >= from {
                batches.push(describe(names, &batch));
            }
        })
        .map_err(|source| FormatError::io(folder, source))?;
        Ok(batches)
    }
}

/// Where a node has its replica of a key; `None` when it has none.
pub(in crate::run) fn replica_folder(
    cluster: &Cluster,
    catalog: &Catalog,
    node: NodeId,
    key: Key,
) -> Option<PathBuf> {
    let name = format!("{}-{}", catalog.topic(key).name, catalog.partition(key));
    let folders = cluster.target().log_dirs(cluster.plan().nodes.get(&node)?);
    folders.into_iter().map(|folder| folder.join(&name)).find(|folder| folder.is_dir())
}

/// What another dump of the key already holds: everything below the first batch that differs.
fn same_as(other: &Written, batches: &[DumpBatch]) -> Option<SameAs> {
    let equal = other.batches.iter().zip(batches).take_while(|(a, b)| a == b).count();
    let last = batches.get(equal.checked_sub(1)?)?;
    Some(SameAs { file: other.file.clone(), to: last.last_offset + 1 })
}

fn describe((run, key): (&str, &str), batch: &Batch) -> DumpBatch {
    let header = batch.header();
    let mut dump = DumpBatch {
        base_offset: header.base_offset,
        last_offset: header.last_offset(),
        epoch: header.leader_epoch,
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        sequence: header.base_sequence,
        control: header.is_control(),
        crc: header.crc,
        damage: batch.check_crc().err().map(|error| error.to_string().into()),
        values: Values::default(),
        offset_deltas: None,
    };
    if dump.control || dump.damage.is_some() {
        return dump;
    }
    let records =
        batch.records(DECOMPRESSED_LIMIT).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match records {
        Ok(records) => {
            let value = |payload: Option<&[u8]>| value::decode(run, key, payload?).ok();
            dump.values = pack_values(records.iter().map(|record| value(record.value.as_deref())));
            let deltas = records.iter().map(|record| (record.offset - dump.base_offset) as i32);
            let deltas: Vec<i32> = deltas.collect();
            let dense = deltas.iter().enumerate().all(|(nth, delta)| nth as i32 == *delta);
            dump.offset_deltas = (!dense).then(|| deltas.into());
        }
        Err(error) => dump.damage = Some(error.to_string().into()),
    }
    dump
}
