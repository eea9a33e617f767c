//! The figures of a run without faults: latency, visibility, copies, bytes on disk.

use std::{collections::BTreeMap, path::Path};

use hdrhistogram::Histogram;
use highwater_checker::view::{KeyView, RunView};
use highwater_history::{
    EventValue, FormatError, Key, Offset, RunFolder, TimeNs,
    event::{Acks, EventKind, Function, MicroOp, Process},
    manifest::Node,
    reader::HistoryReader,
};

use super::{
    comparison::{Figures, LinkCost},
    faulty,
    model::{CalmCell, Latency},
};

const NS_PER_MS: f64 = 1e6;
const HOUR_NS: u64 = 3_600_000_000_000;
/// So many must be slower than a quantile before it is told: p99 takes 1,000 sends.
const SLOWER: u64 = 10;

/// What is gathered of one acks level and flush policy.
struct Gathered {
    latency: Histogram<u64>,
    visible: Histogram<u64>,
    copies: Copies,
    acknowledged: u64,
    /// None where some replica's could not be counted.
    disk_bytes: Option<u64>,
}

/// A sample that was answered no later than this after an acknowledgement tells of it.
const NEAR_NS: TimeNs = 10_000_000;

/// What followers' samples told of records that had just been acknowledged.
#[derive(Default)]
struct Copies {
    followers: u64,
    asked: u64,
    held: u64,
}

impl Copies {
    /// The leader, and of its followers so many as held what they were asked about.
    fn average(&self) -> Option<f64> {
        (self.asked > 0).then(|| 1.0 + self.followers as f64 * self.held as f64 / self.asked as f64)
    }
}

impl Gathered {
    fn new() -> Gathered {
        let histogram = || Histogram::new_with_bounds(1, HOUR_NS, 3).expect("valid bounds");
        Gathered {
            latency: histogram(),
            visible: histogram(),
            copies: Copies::default(),
            acknowledged: 0,
            disk_bytes: Some(0),
        }
    }

    fn cell(
        &self,
        (acks, flushed): (Acks, bool),
        offered_per_s: u32,
        value_bytes: u64,
    ) -> CalmCell {
        let payload = (self.acknowledged * value_bytes) as f64;
        CalmCell {
            acks,
            flushed,
            offered_per_s,
            sends: self.latency.len(),
            latency_ms: latency(&self.latency),
            visible_ms: (!self.visible.is_empty()).then(|| latency(&self.visible)),
            copies: self.copies.average(),
            disk_bytes_per_byte: self
                .disk_bytes
                .filter(|_| payload > 0.0)
                .map(|bytes| bytes as f64 / payload),
        }
    }
}

/// The figures of a run, by acks level and flush policy, and what its links carried.
///
/// `offered_per_s` is its `--rate`.
///
/// # Errors
/// When the history cannot be read.
pub fn calm(
    folder: &RunFolder,
    (run, keys): (&RunView<'_>, &[KeyView<'_>]),
    offered_per_s: u32,
) -> Result<Figures, FormatError> {
    let latencies = Latencies::read(&folder.history_path())?;
    let warm = latencies.warm_from();
    let mut cells: BTreeMap<(Acks, bool), Gathered> = BTreeMap::new();
    for key in keys {
        let Some(setting) = faulty::setting(key) else { continue };
        let cell = cells.entry((setting.acks, setting.flushed)).or_insert_with(Gathered::new);
        for took_ns in latencies.since(&key.key.key, warm) {
            cell.latency.saturating_record(took_ns);
        }
        gather(key, setting.acks, warm, cell);
        cell.disk_bytes = cell.disk_bytes.zip(disk_bytes(key)).map(|(sum, bytes)| sum + bytes);
    }
    let value_bytes = run.evidence.manifest.as_ref().and_then(|m| m.workload.value_bytes);
    let value_bytes = value_bytes.unwrap_or(0);
    let cell =
        |(of, gathered): (&(Acks, bool), &Gathered)| gathered.cell(*of, offered_per_s, value_bytes);
    let payload = cells.values().map(|cell| cell.acknowledged * value_bytes).sum();
    let link = links(run, payload).map(|bytes_per_byte| LinkCost { offered_per_s, bytes_per_byte });
    Ok(Figures::Calm(cells.iter().map(cell).collect(), link))
}

/// Bytes between nodes for each of so many bytes of payload, where the proxies counted any.
fn links(run: &RunView<'_>, payload: u64) -> Option<f64> {
    let traffic = &run.evidence.outcome.as_ref()?.traffic;
    let brokers = &run.evidence.manifest.as_ref()?.target.nodes;
    let is_broker = |end: &str| {
        let node = brokers.iter().find(|node| node.id.to_string() == end);
        node.is_some_and(Node::is_broker)
    };
    let between = traffic.iter().filter(|link| is_broker(&link.from) && is_broker(&link.to));
    let bytes: u64 = between.map(|link| link.bytes).sum();
    (bytes > 0 && payload > 0).then(|| bytes as f64 / payload as f64)
}

fn gather(view: &KeyView<'_>, acks: Acks, warm: TimeNs, cell: &mut Gathered) {
    let records = &view.key.records;
    let followers = followers(view);
    cell.copies.followers = cell.copies.followers.max(followers.len() as u64);
    for record in records.ids() {
        let Some(at) = faulty::acknowledged_at(view, acks, record) else { continue };
        cell.acknowledged += 1;
        if at < warm {
            continue;
        }
        if let Some(reader) = records.reader(record) {
            // A poll may have been answered before the acknowledgement arrived.
            cell.visible.saturating_record(view.op(reader).completed_at.saturating_sub(at).max(1));
        }
        if let Some(offset) = records.ack(record, &view.run.index.ops) {
            followers.iter().for_each(|leo| ask(leo, (offset, at), &mut cell.copies));
        }
    }
}

/// What one follower said of its LEO: asked when, answered when, what.
type Told = Vec<(TimeNs, TimeNs, Offset)>;

/// What each follower said, in order of time; none where leadership moved while anything was sent.
fn followers(view: &KeyView<'_>) -> Vec<Told> {
    let ended = faulty::sends(view).map(|send| send.completed_at).max().unwrap_or(0);
    // A cluster that is being stopped moves leaders.
    let mut states = view.states().iter().take_while(|state| state.at <= ended);
    let Some(first) = states.next() else { return Vec::new() };
    if states.any(|state| state.leader != first.leader) {
        return Vec::new();
    }
    let ids = first.replicas.iter().filter(|node| Some(**node) != first.leader);
    let told = |node| {
        let samples = view.replica_samples().iter().filter(|one| one.node == node);
        samples.filter_map(|one| Some((one.asked, one.answered, one.state.leo?))).collect()
    };
    ids.map(|node| told(*node)).collect()
}

/// Adds whether a follower held an offset right after its acknowledgement, when it was asked then.
fn ask(told: &Told, (offset, at): (Offset, TimeNs), copies: &mut Copies) {
    let next = told.partition_point(|(asked, ..)| *asked < at);
    let Some((_, answered, leo)) = told.get(next) else { return };
    if *answered <= at.saturating_add(NEAR_NS) {
        copies.asked += 1;
        copies.held += u64::from(*leo > offset);
    }
}

/// Ok sends by key: when each was meant to start, and how long from there to its end.
#[derive(Default)]
struct Latencies(BTreeMap<Key, Vec<(TimeNs, TimeNs)>>);

impl Latencies {
    fn read(history: &Path) -> Result<Latencies, FormatError> {
        let mut begun: BTreeMap<u64, TimeNs> = BTreeMap::new();
        let mut took = Latencies::default();
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
                let of_key = took.0.entry(key.clone()).or_default();
                of_key.push((since, event.time.saturating_sub(since)));
            }
        }
        Ok(took)
    }

    /// The middle of the run: what came before warmed caches and compilers.
    fn warm_from(&self) -> TimeNs {
        let starts = || self.0.values().flatten().map(|(since, _)| *since);
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        first.midpoint(last)
    }

    fn since(&self, key: &Key, from: TimeNs) -> impl Iterator<Item = TimeNs> {
        let of_key = self.0.get(key).into_iter().flatten();
        of_key.filter(move |(since, _)| *since >= from).map(|(_, took)| *took)
    }
}

/// Bytes in the segments of all replicas of a key, as the run counted them at its end.
fn disk_bytes(view: &KeyView<'_>) -> Option<u64> {
    view.run.evidence.outcome.as_ref()?.partitions.get(&view.key.key)?.disk_bytes
}

fn latency(histogram: &Histogram<u64>) -> Latency {
    let at = |per_mille: u64| {
        let slower = histogram.len() * (1_000 - per_mille) / 1_000;
        let value = || histogram.value_at_quantile(per_mille as f64 / 1e3) as f64 / NS_PER_MS;
        (slower >= SLOWER).then(value)
    };
    Latency { p50: at(500), p99: at(990), p99_9: at(999) }
}

#[cfg(test)]
mod tests {
    use highwater_history::Key;

    use super::{Copies, Gathered, Latencies, NEAR_NS, ask, latency};

    #[test]
    fn a_quantile_is_told_where_ten_or_more_were_slower() {
        let told = |sends: u64| {
            let mut gathered = Gathered::new();
            (0..sends).for_each(|_| gathered.latency.saturating_record(2_000_000));
            let latency = latency(&gathered.latency);
            [latency.p50, latency.p99, latency.p99_9].map(|quantile| quantile.is_some())
        };
        assert_eq!(told(19), [false, false, false]);
        assert_eq!(told(20), [true, false, false]);
        assert_eq!(told(999), [true, false, false]);
        assert_eq!(told(1_000), [true, true, false]);
        assert_eq!(told(9_999), [true, true, false]);
        assert_eq!(told(10_000), [true, true, true]);
    }

    #[test]
    fn the_first_half_of_a_run_warms_up() {
        let key = Key::from("t-0".to_owned());
        let sends = vec![(100, 9_000), (150, 40), (200, 20), (300, 10)];
        let latencies = Latencies([(key.clone(), sends)].into());
        assert_eq!(latencies.warm_from(), 200);
        assert_eq!(latencies.since(&key, 200).collect::<Vec<_>>(), [20, 10]);
    }

    #[test]
    fn only_a_sample_asked_and_answered_right_after_the_acknowledgement_tells_of_copies() {
        let told = vec![(100, 110, 5), (200, 210, 6), (200 + 2 * NEAR_NS, 201 + 2 * NEAR_NS, 9)];
        let mut copies = Copies { followers: 2, ..Copies::default() };
        assert_eq!(copies.average(), None);
        ask(&told, (5, 150), &mut copies);
        assert_eq!((copies.asked, copies.held), (1, 1));
        ask(&told, (6, 150), &mut copies);
        assert_eq!((copies.asked, copies.held), (2, 1));
        ask(&told, (6, 201), &mut copies);
        assert_eq!(copies.asked, 2, "the next sample came too late");
        assert_eq!(copies.average(), Some(2.0));
    }
}
