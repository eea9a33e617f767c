//! The figures of a run without faults: latency, visibility, copies, bytes on disk.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use hdrhistogram::Histogram;
use highwater_checker::view::{KeyView, RunView};
use highwater_history::{
    EventValue, FormatError, Key, RunFolder, TimeNs,
    event::{Acks, EventKind, Function, MicroOp, Process},
    reader::HistoryReader,
};

use super::{
    faulty,
    model::{CalmCell, Latency},
};

const NS_PER_MS: f64 = 1e6;
const HOUR_NS: u64 = 3_600_000_000_000;

/// What is gathered of one acks level and flush policy.
struct Gathered {
    latency: Histogram<u64>,
    visible: Histogram<u64>,
    copies: Copies,
    acknowledged: u64,
    disk_bytes: u64,
}

/// Replicas that held records when these were acknowledged.
#[derive(Default)]
struct Copies {
    records: u64,
    at_least: u64,
    at_most: u64,
}

impl Gathered {
    fn new() -> Gathered {
        let histogram = || Histogram::new_with_bounds(1, HOUR_NS, 3).expect("valid bounds");
        Gathered {
            latency: histogram(),
            visible: histogram(),
            copies: Copies::default(),
            acknowledged: 0,
            disk_bytes: 0,
        }
    }

    fn cell(
        &self,
        (acks, flushed): (Acks, bool),
        offered_per_s: u32,
        value_bytes: u64,
    ) -> CalmCell {
        let payload = (self.acknowledged * value_bytes) as f64;
        let average = |copies: u64| copies as f64 / self.copies.records.max(1) as f64;
        CalmCell {
            acks,
            flushed,
            offered_per_s,
            sends: self.latency.len(),
            latency_ms: latency(&self.latency),
            visible_ms: (!self.visible.is_empty()).then(|| latency(&self.visible)),
            copies_at_least: average(self.copies.at_least),
            copies_at_most: average(self.copies.at_most),
            disk_bytes_per_byte: if payload > 0.0 { self.disk_bytes as f64 / payload } else { 0.0 },
        }
    }
}

/// The figures of a run, by acks level and flush policy; `offered_per_s` is its `--rate`.
///
/// # Errors
/// When the history cannot be read.
pub fn calm(
    folder: &RunFolder,
    (run, keys): (&RunView<'_>, &[KeyView<'_>]),
    offered_per_s: u32,
) -> Result<Vec<CalmCell>, FormatError> {
    let mut latencies = latencies(&folder.history_path())?;
    let mut cells: BTreeMap<(Acks, bool), Gathered> = BTreeMap::new();
    for key in keys {
        let Some(setting) = faulty::setting(key) else { continue };
        let cell = cells.entry((setting.acks, setting.flushed)).or_insert_with(Gathered::new);
        for took_ns in latencies.remove(&key.key.key).unwrap_or_default() {
            cell.latency.saturating_record(took_ns);
        }
        gather(key, cell);
        cell.disk_bytes += disk_bytes(folder.path(), key);
    }
    let value_bytes = run.evidence.manifest.as_ref().and_then(|m| m.workload.value_bytes);
    let cell = |(of, gathered): (&(Acks, bool), &Gathered)| {
        gathered.cell(*of, offered_per_s, value_bytes.unwrap_or(0))
    };
    Ok(cells.iter().map(cell).collect())
}

fn gather(view: &KeyView<'_>, cell: &mut Gathered) {
    let records = &view.key.records;
    for record in records.ids().filter(|record| records.is_acknowledged(*record)) {
        let Some(at) = view.sender(record).map(|sender| sender.completed_at) else { continue };
        cell.acknowledged += 1;
        if let Some(reader) = records.reader(record) {
            // A poll may have been answered before the acknowledgement arrived.
            cell.visible.saturating_record(view.op(reader).completed_at.saturating_sub(at).max(1));
        }
        if let Some(offset) = records.ack(record, &view.run.index.ops) {
            let (at_least, at_most) = copies(view, offset, at);
            cell.copies.records += 1;
            cell.copies.at_least += at_least;
            cell.copies.at_most += at_most;
        }
    }
}

/// How many replicas held an offset at a time: surely at least, surely at most.
fn copies(view: &KeyView<'_>, offset: i64, at: TimeNs) -> (u64, u64) {
    let replicas = view.run.registry.of_key(view.key).last().map_or(0, |s| s.replicas.len()) as u64;
    let told = view.run.sayings.replicas(&view.key.key);
    let (mut nodes, mut held, mut lacked) = (Vec::new(), 0, 0);
    for one in told {
        if !nodes.contains(&one.node) {
            nodes.push(one.node);
        }
    }
    for node in nodes {
        let of_node = || told.iter().filter(|one| one.node == node);
        let last = of_node().rev().find(|one| one.answered <= at);
        let next = of_node().find(|one| one.asked >= at);
        held += u64::from(last.is_some_and(|one| one.state.leo.is_some_and(|leo| leo > offset)));
        lacked += u64::from(next.is_some_and(|one| one.state.leo.is_some_and(|leo| leo <= offset)));
    }
    (held, replicas.saturating_sub(lacked))
}

/// From the intended start of each ok send to its end, by key.
fn latencies(history: &Path) -> Result<BTreeMap<Key, Vec<TimeNs>>, FormatError> {
    let mut begun: BTreeMap<u64, TimeNs> = BTreeMap::new();
    let mut took: BTreeMap<Key, Vec<TimeNs>> = BTreeMap::new();
    for event in HistoryReader::open(history)? {
        let event = event?;
        let (Process::Client(process), Function::Send) = (event.process, &event.f) else {
            continue;
        };
        if event.kind == EventKind::Invoke {
            let intended = event.extra.get("intended").and_then(serde_json::Value::as_u64);
            begun.insert(process, intended.unwrap_or(event.time));
            continue;
        }
        let Some(since) = begun.remove(&process) else { continue };
        let EventValue::Ops(ops) = &event.value else { continue };
        if let (EventKind::Ok, Some(MicroOp::Send { key, .. })) = (event.kind, ops.first()) {
            took.entry(key.clone()).or_default().push(event.time.saturating_sub(since));
        }
    }
    Ok(took)
}

/// The size of a key's segments over all nodes' log directories in the run folder.
fn disk_bytes(folder: &Path, view: &KeyView<'_>) -> u64 {
    let Some(partition) = view.key.partition() else { return 0 };
    let name = format!("{}-{partition}", view.key.topic_name());
    let nodes = fs::read_dir(folder.join("nodes")).into_iter().flatten();
    let folders = nodes.filter_map(|node| Some(node.ok()?.path().join("data").join(&name)));
    folders.flat_map(|folder| segments(&folder)).sum()
}

fn segments(folder: &PathBuf) -> Vec<u64> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_log = |path: &Path| path.extension().is_some_and(|suffix| suffix == "log");
    let sizes = files.filter(|file| is_log(&file.path()));
    sizes.filter_map(|file| Some(file.metadata().ok()?.len())).collect()
}

fn latency(histogram: &Histogram<u64>) -> Latency {
    let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / NS_PER_MS;
    Latency { p50: at(0.5), p99: at(0.99), p99_9: at(0.999) }
}
