//! The node's configuration, typed; how `server.properties` becomes it is in the files beside this.

pub(crate) mod describe;
mod error;
mod listeners;
mod load;
mod node_table;
mod property;
mod replication;
mod rules;
mod shell;
mod topic;
mod topic_table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use error::ConfigError;
use highwater_node_core::types::BrokerId;
pub use load::{Loaded, load};
pub use node_table::NODE_TABLE;
pub use property::{Kind, Property};
pub use replication::ReplicationConfig;
pub(crate) use rules::TableRules;
pub use shell::{Settings, ShellConfig};
pub use topic::TopicConfig;
pub use topic_table::{TOPIC_TABLE, TopicProperty, by_node_name, topic_property};

/// One socket that the node serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerConfig {
    /// Its name in `listeners`.
    pub name: String,
    /// The host to bind.
    pub host: String,
    /// The port to bind.
    pub port: u16,
    /// The host that others are told.
    pub advertised_host: String,
    /// The port that others are told.
    pub advertised_port: u16,
}

/// What the node is told once, at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeConfig {
    /// `node.id`.
    pub node_id: BrokerId,
    /// True with `broker` in `process.roles`.
    pub is_broker: bool,
    /// True with `controller` in `process.roles`.
    pub is_controller: bool,
    /// `cluster.id` of the log directory.
    pub cluster_id: String,
    /// `directory.id` of the log directory (KIP-858).
    pub directory_id: u128,
    /// `log.dirs`: where the shell keeps the log directory, for those who ask.
    pub log_dir: String,
    /// `listeners` with their `advertised.listeners`.
    pub listeners: Vec<ListenerConfig>,
    /// `controller.listener.names`.
    pub controller_listeners: Vec<String>,
    /// `inter.broker.listener.name`.
    pub inter_broker_listener: String,
    /// `controller.quorum.voters`: where each voter is reached at first contact, as `host:port`.
    pub voters: BTreeMap<BrokerId, String>,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// `max.connections`.
    pub max_connections: usize,
    /// `connections.max.idle.ms`; 0 never closes.
    pub connections_max_idle_ms: u64,
    /// `request.timeout.ms` of requests to brokers and controllers.
    pub request_timeout_ms: u64,
    /// `auto.create.topics.enable`.
    pub auto_create_topics_enable: bool,
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `delete.topic.enable`.
    pub delete_topic_enable: bool,
    /// `max.request.partition.size.limit`.
    pub max_request_partition_size_limit: i32,
    /// `broker.heartbeat.interval.ms`.
    pub broker_heartbeat_interval_ms: u64,
    /// `broker.session.timeout.ms`.
    pub broker_session_timeout_ms: u64,
    /// `initial.broker.registration.timeout.ms`.
    pub initial_registration_timeout_ms: u64,
    /// `unclean.leader.election.enable`.
    pub unclean_leader_election_enable: bool,
    /// `unclean.leader.election.interval.ms`.
    pub unclean_leader_election_interval_ms: u64,
    /// `auto.leader.rebalance.enable`.
    pub auto_leader_rebalance_enable: bool,
    /// `leader.imbalance.check.interval.seconds`, in milliseconds.
    pub leader_imbalance_check_interval_ms: u64,
    /// `controller.quorum.fetch.timeout.ms`: how long a fetch of the metadata log may take.
    pub quorum_fetch_timeout_ms: u64,
    /// How records are replicated, kept and served.
    pub replication: ReplicationConfig,
    /// What the node's file and command line set, by name.
    pub given: BTreeMap<String, String>,
}

impl Default for NodeConfig {
    /// Kafka's defaults, of a node without role, listener or voter.
    fn default() -> NodeConfig {
        NodeConfig {
            node_id: BrokerId(-1),
            is_broker: false,
            is_controller: false,
            cluster_id: String::new(),
            directory_id: 0,
            log_dir: "/tmp/kafka-logs".to_owned(),
            listeners: Vec::new(),
            controller_listeners: Vec::new(),
            inter_broker_listener: "PLAINTEXT".to_owned(),
            voters: BTreeMap::new(),
            rack: None,
            max_connections: i32::MAX as usize,
            connections_max_idle_ms: 600_000,
            request_timeout_ms: 30_000,
            auto_create_topics_enable: true,
            num_partitions: 1,
            default_replication_factor: 1,
            delete_topic_enable: true,
            max_request_partition_size_limit: 2_000,
            broker_heartbeat_interval_ms: 2_000,
            broker_session_timeout_ms: 9_000,
            initial_registration_timeout_ms: 60_000,
            unclean_leader_election_enable: false,
            unclean_leader_election_interval_ms: 300_000,
            auto_leader_rebalance_enable: true,
            leader_imbalance_check_interval_ms: 300_000,
            quorum_fetch_timeout_ms: 2_000,
            replication: ReplicationConfig::default(),
            given: BTreeMap::new(),
        }
    }
}

impl NodeConfig {
    /// True when the listener of this name serves brokers and operators of the quorum.
    pub fn is_controller_listener(&self, name: &str) -> bool {
        self.controller_listeners.iter().any(|controller| controller == name)
    }
}
