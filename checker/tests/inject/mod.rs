//! Puts one anomaly of a class into the evidence of a real run, and says what has to be found.

mod dumps;
mod history;
mod samples;

use std::{collections::BTreeMap, path::Path};

use highwater_checker::{Evidence, History, claim, evidence::Instead};
use highwater_history::{
    Event, EventValue, Key, NodeId, Offset, RunFolder, TimeNs, Value,
    dumps::{DumpBatch, Moment},
    event::{EventKind, Function, MicroOp, Process},
};

/// What a verdict has to count.
pub type Counts = BTreeMap<&'static str, u64>;

/// Injects; none where the run has nothing that it could be put into.
pub type Injection = fn(&mut Run) -> Option<Counts>;

/// Every injection by name.
pub const INJECTIONS: &[(&str, Injection)] = &[
    ("a dumped record is dropped", dumps::drop_record),
    ("two dumped values are swapped", dumps::swap_values),
    ("a record is appended a second time", dumps::append_again),
    ("a batch is appended a second time", dumps::repeat_batch),
    ("a follower's batch has another checksum", dumps::change_checksum),
    ("an epoch checkpoint does not rise", dumps::bend_checkpoint),
    ("a failed record stands in the log", dumps::keep_failed),
    ("an acknowledgement's offset is moved", history::move_ack),
    ("an acknowledgement is forged", history::forge_ack),
    ("a value comes from nowhere", history::read_unsent),
    ("a consumer steps back", history::step_back),
    ("a consumer skips", history::skip),
    ("a payload is damaged", history::damage_payload),
    ("a payload is misplaced", history::misplace_payload),
    ("a producer id is given out again", history::reuse_producer_id),
    ("a HW is above the LEO", samples::disorder),
    ("a leader's HW falls", samples::lower_hw),
    ("a HW stands still", samples::stand_still),
    ("a broker goes back to an older epoch", samples::older_epoch),
    ("a broker tells of another leader", samples::other_leader),
    ("a member lacks what was acknowledged", samples::short_member),
    ("a stranger is in sync", samples::stranger_in_sync),
];

/// A run in memory.
pub struct Run {
    /// Its evidence, but for the history.
    pub evidence: Evidence,
    /// Its history.
    pub events: Vec<Event>,
}

/// A key that an injection is put into: led, dumped and read to its end.
pub struct Place {
    /// The key.
    pub key: Key,
    /// Its leader at the end.
    pub leader: NodeId,
    /// The leader's epoch.
    pub epoch: i32,
    /// Its high watermark and log end.
    pub end: Offset,
}

impl Run {
    /// Reads a run folder. What the metadata log says after the last dump is how the harness
    /// stopped the nodes, and is left out: injections go in between.
    pub fn load(folder: &Path) -> Self {
        let mut evidence = Evidence::load(folder, &Instead::default()).expect("a run folder");
        let history = RunFolder::new(folder).history().expect("a history");
        let events = history.collect::<Result<Vec<_>, _>>().expect("whole events");
        evidence.history = History::default();
        let manifest = evidence.manifest.as_mut().expect("a manifest");
        manifest.claims = claim::TABLE.iter().map(|(name, ..)| (*name).to_owned()).collect();
        manifest.expect.clear();
        let clocks = manifest.clocks;
        let last = evidence.dumps.iter().map(|(_, dump)| dump.header.at).max().expect("a dump");
        evidence.metadata.retain(|record| clocks.run_time_of_wall_ms(record.timestamp_ms) <= last);
        Self { evidence, events }
    }

    /// The evidence as a whole.
    pub fn finish(mut self) -> Evidence {
        for (nth, event) in self.events.iter_mut().enumerate() {
            event.index = nth as u64;
        }
        self.evidence.history = History::Events(self.events);
        self.evidence
    }

    /// The key whose log is the longest of those that were sent with acks=all, else of all.
    pub fn place(&self) -> Option<Place> {
        let outcome = self.evidence.outcome.as_ref()?;
        let places = outcome.partitions.iter().filter_map(|(key, at_end)| {
            let (leader, epoch) = (at_end.leader?, at_end.leader_epoch);
            let end = self.final_log(key, leader)?.last()?.end();
            Some(Place { key: key.clone(), leader, epoch, end })
        });
        places.max_by_key(|place| (place.key.starts_with("all"), place.end))
    }

    /// The final log of a replica.
    pub fn final_log(&self, key: &Key, node: NodeId) -> Option<&[DumpBatch]> {
        let mut dumps = self.evidence.dumps.iter().map(|(_, dump)| dump);
        let dump = dumps.find(|dump| {
            (dump.header.moment, dump.header.node) == (Moment::Final, node)
                && dump.header.key == *key
        })?;
        Some(&dump.lines)
    }

    /// A time after everything that was recorded.
    pub fn after_all(&self) -> TimeNs {
        let events = self.events.iter().map(|event| event.time);
        let samples = self.evidence.samples.iter().map(|sample| sample.answered);
        events.chain(samples).max().unwrap_or(0) + 1_000_000_000
    }

    /// An operation of a process that nobody else is.
    pub fn operate(&mut self, process: u64, f: Function, asked: Vec<MicroOp>, got: MicroOp) {
        let kind = EventKind::Ok;
        self.end_operation(process, (f, kind), asked, got);
    }

    /// The same with any ending.
    pub fn end_operation(
        &mut self,
        process: u64,
        (f, kind): (Function, EventKind),
        asked: Vec<MicroOp>,
        got: MicroOp,
    ) {
        let process = Process::Client(1_000_000 + process);
        for (kind, ops) in [(EventKind::Invoke, asked), (kind, vec![got])] {
            let event = Event::new(self.after_all(), process.clone(), kind, f.clone());
            self.events.push(event.with_value(EventValue::Ops(ops)));
        }
    }

    /// A value that nobody sent to a key.
    pub fn fresh_value(&self) -> Value {
        10_000_000
    }
}
