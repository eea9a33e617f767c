//! `outcome.json`: how a run ended. Without it the run was cut short.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::{
    format::Document,
    types::{Key, LeaderEpoch, NodeId, Offset, TimeNs},
};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Format version, 1.
    pub format: u64,
    /// How the run came to its end.
    pub ended: Ended,
    /// When the outcome was written, nanoseconds of the run.
    pub at: TimeNs,
    /// How many events the history had by then; none where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// What else stood in the folder by then; none where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// What failed in the harness itself, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_failure: Option<String>,
    /// Whether the healed cluster came back (rules 81, 82); none when nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// Every fault, with the proof that it acted.
    #[serde(default)]
    pub faults: Vec<FaultOutcome>,
    /// Conditions of the schedule and whether they came true.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// What the schedule's own assertions found (named experiments).
    #[serde(default)]
    pub assertions: Vec<Assertion>,
    /// Nodes that ended by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<Crash>,
    /// The second witness: answers seen by the proxies against the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// Windows in which the harness itself was late: progress is unknown there.
    #[serde(default)]
    pub lag_windows: Vec<LagWindow>,
    /// Limits that the user set.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Bytes that each link carried, where somebody counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// Where each key stood at the end.
    #[serde(default)]
    pub partitions: BTreeMap<Key, FinalPartition>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}

impl Document for Outcome {
    const WHAT: &'static str = "outcome";
    const FORMAT: u64 = 1;
}

impl Outcome {
    /// An outcome of this format that says nothing more than how and when the run ended.
    pub fn new(ended: Ended, at: TimeNs) -> Self {
        Self {
            format: Self::FORMAT,
            ended,
            at,
            events: None,
            written: None,
            harness_failure: None,
            recovery: None,
            faults: Vec::new(),
            conditions: Vec::new(),
            assertions: Vec::new(),
            crashes: Vec::new(),
            witness: None,
            lag_windows: Vec::new(),
            limits: Vec::new(),
            traffic: Vec::new(),
            partitions: BTreeMap::new(),
            extra: Map::new(),
        }
    }
}

/// How much evidence stands in files beside the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Samples.
    pub samples: u64,
    /// Records of the metadata log.
    pub metadata: u64,
    /// Dumps.
    pub dumps: u64,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Everything planned was done, final reads and dumps too.
    Complete,
    /// Somebody stopped it.
    Interrupted,
    /// The harness failed.
    Failed,
}

/// Whether the healed cluster came back in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// Whether everything below was there within the limit.
    pub recovered: bool,
    /// When the last fault was healed.
    pub healed_at: TimeNs,
    /// When all was well, or when waiting ended.
    pub ended_at: TimeNs,
    /// How long it could take, milliseconds.
    pub limit_ms: u64,
    /// What was missing, one entry a condition.
    #[serde(default)]
    pub missing: Vec<Missing>,
}

/// A condition of recovery that was not met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// The key, or none for the cluster as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// `leader`, `isr`, `hw`, `produce`, `final-read`, ...
    pub condition: String,
    /// What was seen instead, one sentence.
    pub seen: String,
}

/// One fault and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultOutcome {
    /// Kind of fault, as `highwater list faults` names it.
    pub kind: String,
    /// Nodes or links that it hit.
    #[serde(default)]
    pub targets: Vec<String>,
    /// What became of it.
    pub status: FaultStatus,
    /// Why it was skipped, or what is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was put in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TimeNs>,
    /// When it was healed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeNs>,
    /// What shows that it acted.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub proof: serde_json::Value,
}

/// What became of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultStatus {
    /// It acted, and the proof shows it.
    Installed,
    /// It was not tried.
    Skipped,
    /// It was tried, and nobody knows whether it acted.
    Indeterminate,
}

/// A `when` of the schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The text in the schedule.
    pub when: String,
    /// Whether it came true within its bound.
    pub met: bool,
    /// When it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TimeNs>,
}

/// An outcome that a named experiment asserts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assertion {
    /// What was asserted, one sentence.
    pub claim: String,
    /// Whether it held; none when it could not be decided.
    pub held: Option<bool>,
    /// What was seen.
    #[serde(default)]
    pub seen: serde_json::Value,
    /// Why it could not be decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The end of a node's process that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// The node.
    pub node: NodeId,
    /// Which of its processes, counted from 0: names its output in `nodes/`.
    pub incarnation: u32,
    /// How it ended: `exit status 1`, `signal 6`.
    pub ended: String,
}

/// Answers seen by the client-side proxies against completions in the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// Completions that were compared.
    pub compared: u64,
    /// Where history and proxies disagree, one sentence each.
    #[serde(default)]
    pub disagreements: Vec<String>,
}

/// A window in which the harness was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LagWindow {
    /// Its start.
    pub from: TimeNs,
    /// Its end.
    pub to: TimeNs,
    /// The worst lateness in it, nanoseconds.
    pub lag: TimeNs,
}

/// What a link carried in one direction over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Who sent: a node's number, or `clients`.
    pub from: String,
    /// Who received.
    pub to: String,
    /// Bytes delivered.
    pub bytes: u64,
}

/// A limit that the user set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The option: `max-unavailable` or `max-recovery`.
    pub name: String,
    /// The key that it was measured at; none for the cluster as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// The limit, milliseconds.
    pub limit_ms: u64,
    /// What was measured, milliseconds.
    pub took_ms: u64,
    /// When the time that was measured began, nanoseconds of the run.
    #[serde(default)]
    pub from: TimeNs,
    /// When it ended; the end of time where an older program wrote this.
    #[serde(default = "end_of_time")]
    pub to: TimeNs,
}

fn end_of_time() -> TimeNs {
    TimeNs::MAX
}

/// Where a key stood at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalPartition {
    /// The leader, if any.
    pub leader: Option<NodeId>,
    /// Its epoch.
    pub leader_epoch: LeaderEpoch,
    /// In-sync replicas.
    pub isr: Vec<NodeId>,
    /// Assigned replicas.
    #[serde(default)]
    pub replicas: Vec<NodeId>,
    /// Log start offset of the leader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_start: Option<Offset>,
    /// High watermark of the leader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hw: Option<Offset>,
    /// Log end offset of the leader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leo: Option<Offset>,
    /// The final reader read everything below this offset; none when it did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_read_to: Option<Offset>,
    /// Bytes in the segments of all its replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
}
