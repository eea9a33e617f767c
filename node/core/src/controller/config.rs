//! What the controller is told once: its settings, and which configurations are legal.

use crate::metadata::record::{FeatureLevelRecord, Resource};

/// The controller's own settings; Kafka's names in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The cluster's id; a broker of another one is refused (rule 32).
    pub cluster_id: String,
    /// How long a broker lives without a heartbeat (`broker.session.timeout.ms`).
    pub session_timeout_ms: u64,
    /// Partitions of a topic that names no number (`num.partitions`).
    pub num_partitions: i32,
    /// Replicas of a topic that names no number (`default.replication.factor`).
    pub default_replication_factor: i16,
    /// Whether a replica outside the ISR may lead, when neither the topic nor the cluster says
    /// (`unclean.leader.election.enable`).
    pub unclean_election: bool,
    /// How often leaderless partitions are looked at for an unclean election
    /// (`unclean.leader.election.interval.ms`) (rule 85).
    pub unclean_interval_ms: u64,
    /// Whether leaderships go back to the preferred replicas (`auto.leader.rebalance.enable`).
    pub auto_rebalance: bool,
    /// How often that is looked at (`leader.imbalance.check.interval.seconds`), in milliseconds.
    pub rebalance_interval_ms: u64,
    /// The feature levels of a new cluster; `metadata.version` is among them.
    pub initial_features: Vec<FeatureLevelRecord>,
}

/// How a configuration's value may be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigKind {
    /// One value: SET and DELETE.
    Single,
    /// A list, comma separated: APPEND and SUBTRACT too; the value when none is set.
    List {
        /// The default.
        default: String,
    },
}

/// Which configurations exist and which values are legal; the broker's table of properties.
pub trait ConfigRules {
    /// How the property of this resource may be changed; `None` when there is no such property or
    /// it cannot be changed while the broker runs.
    fn kind(&self, resource: &Resource, name: &str) -> Option<ConfigKind>;

    /// Checks a value; the error is a sentence for the caller.
    fn check(&self, resource: &Resource, name: &str, value: &str) -> Result<(), String>;
}
