//! Whom a fault hits: roles, resolved against the observed cluster.

use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};

use super::{ClusterView, NotInstalled, Partition, PartitionView, Rng};
use crate::cluster::{Cluster, NodeId, NodeState};

/// A node's part in the cluster at the moment the fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The partition's leader.
    Leader,
    /// A replica that does not lead, in the ISR or not.
    Follower,
    /// A follower that is in the ISR.
    IsrMember,
    /// The active controller.
    Controller,
    /// Any one broker.
    One,
    /// Fewer than half of the brokers, as many as that allows.
    Minority,
    /// More than half of the brokers, as few as that allows.
    Majority,
    /// Every broker.
    All,
    /// Every node, controllers too.
    AllNodes,
}

/// Whom a fault hits: `"leader"`, `{"role":"leader","of":"t-0"}` or `{"nodes":[1,2]}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Aim {
    /// A role; where it needs a partition, one that has a leader is drawn.
    Role(Role),
    /// A role in one partition.
    Of {
        /// The role.
        role: Role,
        /// The partition.
        of: Partition,
    },
    /// These nodes.
    Nodes {
        /// Their ids.
        nodes: Vec<NodeId>,
    },
}

impl Aim {
    /// The nodes that it means now, those that are down left out, in order of their ids.
    ///
    /// # Errors
    /// [`NotInstalled::Skipped`] when nobody has the role.
    pub fn resolve(
        &self,
        cluster: &Cluster,
        view: &ClusterView,
        rng: &mut Rng,
    ) -> Result<Vec<NodeId>, NotInstalled> {
        let mut nodes = match self {
            Self::Nodes { nodes } => nodes.clone(),
            Self::Role(role) => by_role(*role, None, cluster, view, rng),
            Self::Of { role, of } => by_role(*role, Some(of), cluster, view, rng),
        };
        nodes.retain(|node| cluster.state(*node) != NodeState::Down);
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            return Err(NotInstalled::Skipped(format!("no running node is {self:?}")));
        }
        Ok(nodes)
    }
}

fn by_role(
    role: Role,
    of: Option<&Partition>,
    cluster: &Cluster,
    view: &ClusterView,
    rng: &mut Rng,
) -> Vec<NodeId> {
    let brokers: Vec<NodeId> = cluster.plan().brokers().map(|node| node.id).collect();
    let minority = brokers.len().saturating_sub(1) / 2;
    match role {
        Role::Leader => partition(of, view, rng).and_then(|p| p.leader).into_iter().collect(),
        Role::Follower => one_of(partition(of, view, rng).map(|p| followers(p, &p.replicas)), rng),
        Role::IsrMember => one_of(partition(of, view, rng).map(|p| followers(p, &p.isr)), rng),
        Role::Controller => view.controller.into_iter().collect(),
        Role::One => some_of(brokers, 1, rng),
        Role::Minority => some_of(brokers, minority, rng),
        Role::Majority => {
            let majority = brokers.len() / 2 + 1;
            some_of(brokers, majority, rng)
        }
        Role::All => brokers,
        Role::AllNodes => cluster.plan().nodes.keys().copied().collect(),
    }
}

fn partition<'a>(
    of: Option<&Partition>,
    view: &'a ClusterView,
    rng: &mut Rng,
) -> Option<&'a PartitionView> {
    match of {
        Some(named) => view.partitions.get(named),
        None => {
            let led = view.partitions.values().filter(|p| p.leader.is_some());
            led.collect::<Vec<_>>().choose(rng).copied()
        }
    }
}

fn followers(partition: &PartitionView, among: &[NodeId]) -> Vec<NodeId> {
    among.iter().copied().filter(|node| Some(*node) != partition.leader).collect()
}

fn one_of(nodes: Option<Vec<NodeId>>, rng: &mut Rng) -> Vec<NodeId> {
    some_of(nodes.unwrap_or_default(), 1, rng)
}

fn some_of(mut nodes: Vec<NodeId>, count: usize, rng: &mut Rng) -> Vec<NodeId> {
    nodes.shuffle(rng);
    nodes.truncate(count);
    nodes
}
