//! The broker's part of a node: its metadata, its life cycle, its replicas.

pub(crate) mod auto_create;
pub(crate) mod cluster_view;
pub mod lifecycle;

use std::collections::BTreeSet;

use highwater_node_core::metadata::{Image, Replay};
use highwater_node_core::types::BrokerId;

use crate::alter_partition::AlterPartitions;
use crate::config::NodeConfig;
use crate::fetch::FetchSessions;
use crate::fetchers::Fetchers;
use crate::kernel::Kernel;
use crate::metadata_follower::{self, MetadataFollower};
use crate::node::Node;
use crate::producer_ids::ProducerIds;
use crate::replicas::{self, ReplicaManager};
use crate::startup::Startup;
use lifecycle::Lifecycle;

/// What a node holds as a broker.
#[derive(Debug)]
pub struct BrokerRole {
    /// The committed metadata, as far as it was fetched.
    pub replay: Replay,
    /// The active controller, as the metadata log's leader named itself last.
    pub controller: Option<BrokerId>,
    /// Where it stands in the metadata log.
    pub follower: MetadataFollower,
    /// Registration, heartbeats, shutdown.
    pub lifecycle: Lifecycle,
    /// Names of topics that the controller was asked to create for a client.
    pub(crate) auto_creating: BTreeSet<String>,
    /// Its copies of partitions.
    pub replicas: ReplicaManager,
    /// What copies from leaders.
    pub(crate) fetchers: Fetchers,
    /// ISR changes on their way to the controller.
    pub(crate) alter_partitions: AlterPartitions,
    /// Incremental fetches of clients.
    pub(crate) fetch_sessions: FetchSessions,
    /// Producer ids that may be given away.
    pub(crate) producer_ids: ProducerIds,
}

impl BrokerRole {
    pub(crate) fn new(config: &NodeConfig, kernel: &mut Kernel) -> BrokerRole {
        BrokerRole {
            replay: Replay::default(),
            controller: None,
            follower: MetadataFollower::new(config.node_id),
            lifecycle: Lifecycle::new(kernel.random()),
            auto_creating: BTreeSet::new(),
            replicas: ReplicaManager::default(),
            fetchers: Fetchers::default(),
            alter_partitions: AlterPartitions::default(),
            fetch_sessions: FetchSessions::new(config.replication.fetch_session_slots),
            producer_ids: ProducerIds::default(),
        }
    }

    /// The committed metadata.
    pub fn image(&self) -> &Image {
        self.replay.image()
    }

    /// Begins once the log directory is known.
    pub(crate) fn start(node: &mut Node, startup: &Startup) {
        metadata_follower::start(node);
        replicas::start(node, startup);
        lifecycle::start(node, startup);
    }
}

impl Node {
    /// The broker's part of a node that has one.
    ///
    /// # Panics
    /// On a node without the broker role: only its APIs and its own continuations call this.
    pub fn broker(&self) -> &BrokerRole {
        self.broker.as_ref().expect("what a broker does runs on a broker")
    }

    /// Like [`Node::broker`], to change it.
    pub fn broker_mut(&mut self) -> &mut BrokerRole {
        self.broker.as_mut().expect("what a broker does runs on a broker")
    }
}
