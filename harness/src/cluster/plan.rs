//! Who listens where: the nodes of a cluster, their roles, ports and directories.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::NodeId;
use crate::ports::{PortError, PortPool};

/// The id of the first controller that runs in a process of its own; brokers count from 1.
const FIRST_CONTROLLER: i32 = 101;

/// Where the controllers live (contract 0.1: it changes outcomes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerPlacement {
    /// So many controllers, each in a process of its own.
    Separate(u32),
    /// Every node is broker and controller.
    Combined,
    /// There are none, or none that anybody sees.
    None,
}

impl ControllerPlacement {
    /// The ids of controllers that are processes of their own.
    #[must_use]
    pub fn own_ids(self) -> Vec<NodeId> {
        let count = match self {
            Self::Separate(count) => count,
            Self::Combined | Self::None => 0,
        };
        (0..count as i32).map(|nth| NodeId(FIRST_CONTROLLER + nth)).collect()
    }
}

/// What a node is in the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// It serves partitions.
    pub broker: bool,
    /// It votes in the metadata quorum.
    pub controller: bool,
}

/// One of the three kinds of listener that a node can have (design 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Listener {
    /// For producers, consumers and tools.
    Client,
    /// For the other brokers.
    Internal,
    /// For brokers and controllers that talk to this controller.
    Controller,
}

impl Listener {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Client, Self::Internal, Self::Controller];

    /// The listener's name in the node's configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "CLIENT",
            Self::Internal => "INTERNAL",
            Self::Controller => "CONTROLLER",
        }
    }
}

/// A listener's two ports, both on loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where the node itself listens.
    pub real: SocketAddr,
    /// Where its proxy listens; this is what the node advertises.
    pub proxy: SocketAddr,
}

impl Place {
    /// The same without a proxy.
    #[must_use]
    pub fn direct(self) -> Self {
        Self { proxy: self.real, ..self }
    }

    /// Whether a proxy stands before the node.
    #[must_use]
    pub fn has_proxy(self) -> bool {
        self.proxy != self.real
    }
}

/// One node of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePlan {
    /// Its id.
    pub id: NodeId,
    /// What it is.
    pub roles: Roles,
    /// Its listeners.
    pub listeners: BTreeMap<Listener, Place>,
    /// Its folder in the run folder, `nodes/N`: configuration, output, exit statuses.
    pub folder: PathBuf,
    /// Its log directory (`log.dirs`).
    pub log_dir: PathBuf,
    /// Properties of this node that override those of the cluster, Kafka's names.
    pub properties: BTreeMap<String, String>,
}

impl NodePlan {
    /// The listener's place; `None` when the node has no such listener.
    #[must_use]
    pub fn place(&self, listener: Listener) -> Option<Place> {
        self.listeners.get(&listener).copied()
    }
}

/// The cluster as it will be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterPlan {
    /// Kafka's cluster id, 22 characters of URL-safe base 64.
    pub cluster_id: String,
    /// The run folder, absolute.
    pub run_folder: PathBuf,
    /// The nodes in order of their ids.
    pub nodes: BTreeMap<NodeId, NodePlan>,
    /// Properties of all nodes, Kafka's names.
    pub properties: BTreeMap<String, String>,
}

/// Why no plan could be made.
#[derive(Debug, Error)]
pub enum PlanError {
    /// A cluster without a broker or without a controller.
    #[error(
        "a cluster needs at least one broker and one controller; got {brokers} and {controllers}"
    )]
    Empty {
        /// Brokers asked for.
        brokers: u32,
        /// Controllers asked for.
        controllers: u32,
    },
    /// No free port.
    #[error(transparent)]
    Ports(#[from] PortError),
}

impl ClusterPlan {
    /// Plans `brokers` brokers and their controllers under `run_folder`, which is there already,
    /// with ports from `ports`.
    ///
    /// # Errors
    /// When the cluster would be empty or ports run out.
    pub fn new(
        run_folder: &Path,
        cluster_id: &str,
        brokers: u32,
        controllers: ControllerPlacement,
        ports: &mut PortPool,
    ) -> Result<Self, PlanError> {
        if brokers == 0 || controllers == ControllerPlacement::Separate(0) {
            let controllers = controllers.own_ids().len() as u32;
            return Err(PlanError::Empty { brokers, controllers });
        }
        let run_folder = &run_folder.canonicalize().unwrap_or(run_folder.to_owned());
        let mut nodes = BTreeMap::new();
        for (id, roles) in cast(brokers, controllers) {
            let node = plan_node(run_folder, id, roles, ports)?;
            nodes.insert(node.id, node);
        }
        Ok(Self {
            cluster_id: cluster_id.to_owned(),
            run_folder: run_folder.clone(),
            nodes,
            properties: BTreeMap::new(),
        })
    }

    /// Who is in a cluster, without addresses and folders: enough to see what can be done to it.
    #[must_use]
    pub fn outline(brokers: u32, controllers: ControllerPlacement) -> Self {
        let node = |(id, roles)| {
            let (listeners, properties) = Default::default();
            let (folder, log_dir) = Default::default();
            (id, NodePlan { id, roles, listeners, folder, log_dir, properties })
        };
        Self {
            cluster_id: String::new(),
            run_folder: PathBuf::new(),
            nodes: cast(brokers, controllers).map(node).collect(),
            properties: BTreeMap::new(),
        }
    }

    /// The same for nodes that have one listener, for clients, and advertise it themselves.
    #[must_use]
    pub fn without_proxies(mut self) -> Self {
        for node in self.nodes.values_mut() {
            node.listeners.retain(|listener, _| *listener == Listener::Client);
            node.listeners.values_mut().for_each(|place| *place = place.direct());
        }
        self
    }

    /// The nodes that serve partitions, in order of their ids.
    pub fn brokers(&self) -> impl Iterator<Item = &NodePlan> {
        self.nodes.values().filter(|node| node.roles.broker)
    }

    /// The nodes that vote in the metadata quorum, in order of their ids.
    pub fn controllers(&self) -> impl Iterator<Item = &NodePlan> {
        self.nodes.values().filter(|node| node.roles.controller)
    }

    /// Addresses of the CLIENT proxies: what a client under test is told.
    #[must_use]
    pub fn bootstrap(&self) -> BTreeMap<NodeId, SocketAddr> {
        self.client_places().map(|(id, place)| (id, place.proxy)).collect()
    }

    /// Addresses of the CLIENT listeners themselves, past every proxy: what the harness uses.
    #[must_use]
    pub fn direct(&self) -> BTreeMap<NodeId, SocketAddr> {
        self.client_places().map(|(id, place)| (id, place.real)).collect()
    }

    fn client_places(&self) -> impl Iterator<Item = (NodeId, Place)> {
        self.brokers().filter_map(|node| Some((node.id, node.place(Listener::Client)?)))
    }

    /// The effective properties of one node: the cluster's, overridden by its own.
    #[must_use]
    pub fn properties_of(&self, node: &NodePlan) -> BTreeMap<String, String> {
        let mut all = self.properties.clone();
        all.extend(node.properties.iter().map(|(key, value)| (key.clone(), value.clone())));
        all
    }
}

/// The nodes of a cluster and what each of them is.
fn cast(brokers: u32, controllers: ControllerPlacement) -> impl Iterator<Item = (NodeId, Roles)> {
    let combined = controllers == ControllerPlacement::Combined;
    let broker = Roles { broker: true, controller: combined };
    let controller = Roles { broker: false, controller: true };
    let ids = (1..=brokers as i32).map(move |id| (NodeId(id), broker));
    ids.chain(controllers.own_ids().into_iter().map(move |id| (id, controller)))
}

fn plan_node(
    run_folder: &Path,
    id: NodeId,
    roles: Roles,
    ports: &mut PortPool,
) -> Result<NodePlan, PortError> {
    let mut wanted = Vec::new();
    if roles.broker {
        wanted.extend([Listener::Client, Listener::Internal]);
    }
    if roles.controller {
        wanted.push(Listener::Controller);
    }
    let mut listeners = BTreeMap::new();
    for listener in wanted {
        let real = SocketAddr::from((Ipv4Addr::LOCALHOST, ports.take()?));
        let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, ports.take()?));
        listeners.insert(listener, Place { real, proxy });
    }
    let folder = run_folder.join("nodes").join(id.to_string());
    let log_dir = folder.join("data");
    Ok(NodePlan { id, roles, listeners, folder, log_dir, properties: BTreeMap::new() })
}
