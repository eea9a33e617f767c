//! `manifest.json`: what a run was going to be, written before its first operation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::{
    format::Document,
    promise::Promises,
    types::{NodeId, TimeNs},
};

/// The manifest: written and synced before the first operation, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version, 1.
    pub format: u64,
    /// The run's id, part of topic names and payloads.
    pub run: String,
    /// The seed that decided everything.
    pub seed: u64,
    /// The command line, program first.
    pub command: Vec<String>,
    /// The one command that repeats the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// Commit of the program.
    pub commit: String,
    /// What was tested, with its whole configuration.
    pub target: Target,
    /// The time limits that target and schedule follow.
    pub timing: Timing,
    /// What the clients do.
    pub workload: Workload,
    /// The claims that should hold; empty means all.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The planned schedule, in the form of a schedule file.
    #[serde(default)]
    pub schedule: serde_json::Value,
    /// What the schedule expects of the verdict's counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
    /// What was promised.
    #[serde(default)]
    pub promises: Promises,
    /// Both clocks at the run's zero.
    pub clocks: Clocks,
    /// The machine.
    pub machine: Machine,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}

impl Document for Manifest {
    const WHAT: &'static str = "manifest";
    const FORMAT: u64 = 1;
}

/// What was tested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// As `--target` names it.
    pub name: String,
    /// What the target calls its version.
    #[serde(default)]
    pub version: String,
    /// Every process of the cluster.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// Topics as they were created.
    #[serde(default)]
    pub topics: Vec<Topic>,
    /// Mutants that were switched on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutants: Vec<String>,
    /// Evidence that nobody can have of it: none is missing where it is not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Kind>,
}

/// A kind of evidence that some targets cannot give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Dumps of replicas' logs: its files are not Kafka's.
    Dumps,
    /// The metadata log: it has no controllers, or none that show it.
    Metadata,
}

impl Target {
    /// Whether it gives evidence of this kind.
    pub fn gives(&self, kind: Kind) -> bool {
        !self.without.contains(&kind)
    }
}

/// One process of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// `node.id`.
    pub id: NodeId,
    /// `broker`, `controller` or both.
    pub roles: Vec<String>,
    /// Every property, as given to the process.
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
}

impl Node {
    /// Whether it is a broker, also one that is a controller too.
    pub fn is_broker(&self) -> bool {
        self.has_role("broker")
    }

    /// Whether it is a controller, also one that is a broker too.
    pub fn is_controller(&self) -> bool {
        self.has_role("controller")
    }

    fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|has| has == role)
    }
}

/// A topic as it was created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Topic name.
    pub name: String,
    /// Replicas of each partition, in assignment order.
    pub assignment: Vec<Vec<NodeId>>,
    /// Its settings.
    #[serde(default)]
    pub configs: BTreeMap<String, String>,
}

/// The time limits of a timing profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// `fast` or `default`.
    pub profile: String,
    /// `broker.session.timeout.ms`.
    pub session_ms: u64,
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat_ms: u64,
    /// `replica.lag.time.max.ms`.
    pub lag_limit_ms: u64,
}

/// What the clients do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// As `--workload` names it.
    pub name: String,
    /// Its options in full.
    #[serde(default)]
    pub options: serde_json::Value,
    /// Bytes of a record's payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_bytes: Option<u64>,
    /// The least that must happen for the run to say something.
    #[serde(default)]
    pub floors: Vec<Floor>,
}

/// The least that must happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// A count of the verdict: `acknowledged`, `read`, `acknowledged.all`, `fault.kill`, ...
    pub floor: String,
    /// At least so many.
    pub wanted: u64,
}

/// What a verdict should count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// A count of the verdict: `anomalies.NAME`, `permitted.NAME`, `counts.NAME`.
    pub count: String,
    /// At least so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<u64>,
    /// At most so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
}

/// Both clocks at the run's zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Wall clock at time 0 of the run, nanoseconds since 1970.
    pub wall_ns: u64,
    /// Monotonic clock at time 0 of the run, nanoseconds since the machine's start.
    pub monotonic_ns: u64,
}

impl Clocks {
    /// Run time of a wall-clock time in milliseconds; times before the run are 0.
    pub fn run_time_of_wall_ms(&self, wall_ms: i64) -> TimeNs {
        const NS_PER_MS: u64 = 1_000_000;
        u64::try_from(wall_ms).unwrap_or(0).saturating_mul(NS_PER_MS).saturating_sub(self.wall_ns)
    }
}

/// The machine that ran it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and kernel.
    pub system: String,
    /// Processors.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
}
