//! Whom a fault hits: roles, resolved against the observed cluster.

use std::sync::Arc;

use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};

use super::{ClusterView, Controls, NotInstalled, Partition, PartitionView, Rng};
use crate::{
    cluster::{ClusterPlan, NodeId, NodeState},
    proxy::Endpoint,
};

/// A node's part in the cluster at the moment the fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The partition's leader.
    Leader,
    /// One replica that does not lead, in the ISR or not.
    Follower,
    /// Every replica that does not lead.
    Followers,
    /// One follower that is in the ISR.
    IsrMember,
    /// The active controller.
    Controller,
    /// Every controller.
    Controllers,
    /// Any one broker.
    One,
    /// Fewer than half of the brokers, as many as that allows.
    Minority,
    /// More than half of the brokers, as few as that allows.
    Majority,
    /// Every broker.
    All,
}

/// Whom a fault hits: `"leader"`, `{"role":"leader","of":"t-0"}`, `{"nodes":[1,2]}`,
/// `{"not":"leader"}` (every other broker), or a list of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "whom to hit: a role such as \"leader\", {\"role\":R,\"of\":\"t-0\"}, \
                 {\"nodes\":[1]}, {\"not\":AIM}, or a list of these"
)]
pub enum Aim {
    /// A role; where it needs a partition, one that has a leader is drawn once per fault.
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
    /// Every broker that another aim does not mean.
    Not {
        /// Who is left out.
        not: Box<Aim>,
    },
    /// All that several aims mean.
    Several(Vec<Aim>),
}

impl Aim {
    /// Any one broker: what faults aim at when nothing is said.
    #[must_use]
    pub fn one() -> Self {
        Self::Role(Role::One)
    }
}

/// One side of a link: `"clients"` or an aim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "one side of a link: \"clients\" or whom to hit")]
pub enum Side {
    /// All clients.
    Clients(ClientsWord),
    /// Nodes.
    Nodes(Aim),
}

impl Side {
    /// All clients.
    #[must_use]
    pub fn clients() -> Self {
        Self::Clients(ClientsWord::Clients)
    }
}

/// The word `"clients"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientsWord {
    /// All clients.
    Clients,
}

/// Resolves the aims of one fault, all against the same sight and the same drawn partition.
pub struct Aimer<'a> {
    controls: &'a Controls,
    view: Arc<ClusterView>,
    drawn: Option<Partition>,
    rng: &'a mut Rng,
}

impl<'a> Aimer<'a> {
    /// Looks at the cluster now and draws the partition that roles without one are about.
    #[must_use]
    pub fn new(controls: &'a Controls, rng: &'a mut Rng) -> Self {
        let view = controls.view();
        let led = view.partitions.iter().filter(|(_, partition)| partition.leader.is_some());
        let drawn = led.map(|(name, _)| name.clone()).collect::<Vec<_>>().choose(rng).cloned();
        Self { controls, view, drawn, rng }
    }

    /// The running nodes that `aim` means, in order of their ids.
    ///
    /// # Errors
    /// [`NotInstalled::Skipped`] when nobody has the role.
    pub fn nodes(&mut self, aim: &Aim) -> Result<Vec<NodeId>, NotInstalled> {
        let mut nodes = self.means(aim);
        nodes.retain(|node| self.is_up(*node));
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            let aim = serde_json::to_string(aim).unwrap_or_default();
            return Err(NotInstalled::Skipped(format!("no running node is {aim}")));
        }
        Ok(nodes)
    }

    /// The ends of links that `side` means.
    ///
    /// # Errors
    /// As [`Aimer::nodes`].
    pub fn ends(&mut self, side: &Side) -> Result<Vec<Endpoint>, NotInstalled> {
        match side {
            Side::Clients(ClientsWord::Clients) => Ok(vec![Endpoint::Clients]),
            Side::Nodes(aim) => Ok(self.nodes(aim)?.into_iter().map(Endpoint::Node).collect()),
        }
    }

    /// Every node, controllers too, in an order that is drawn.
    #[must_use]
    pub fn in_any_order(&mut self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.plan().nodes.keys().copied().collect();
        nodes.shuffle(self.rng);
        nodes
    }

    /// Who is in the cluster.
    #[must_use]
    pub fn plan(&self) -> &'a ClusterPlan {
        self.controls.cluster.plan()
    }

    fn means(&mut self, aim: &Aim) -> Vec<NodeId> {
        match aim {
            Aim::Nodes { nodes } => nodes.clone(),
            Aim::Role(role) => self.by_role(*role, None),
            Aim::Of { role, of } => self.by_role(*role, Some(of)),
            Aim::Not { not } => {
                let out = self.means(not);
                let brokers = self.brokers();
                brokers.into_iter().filter(|node| !out.contains(node)).collect()
            }
            Aim::Several(aims) => aims.iter().flat_map(|aim| self.means(aim)).collect(),
        }
    }

    fn by_role(&mut self, role: Role, of: Option<&Partition>) -> Vec<NodeId> {
        let named = of.or(self.drawn.as_ref());
        let partition = named.and_then(|name| self.view.partitions.get(name)).cloned();
        let partition = partition.unwrap_or_default();
        let brokers = self.brokers();
        let count = brokers.len();
        match role {
            Role::Leader => partition.leader.into_iter().collect(),
            Role::Followers => followers(&partition, &partition.replicas),
            Role::Follower => self.draw(followers(&partition, &partition.replicas), 1),
            Role::IsrMember => self.draw(followers(&partition, &partition.isr), 1),
            Role::Controller => self.active_controller(),
            Role::Controllers => self.plan().controllers().map(|node| node.id).collect(),
            Role::One => self.draw(brokers, 1),
            Role::Minority => self.draw(brokers, count.saturating_sub(1) / 2),
            Role::Majority => self.draw(brokers, count / 2 + 1),
            Role::All => brokers,
        }
    }

    /// The controller that was seen active; when there is only one, it needs not be seen.
    fn active_controller(&self) -> Vec<NodeId> {
        let all: Vec<NodeId> = self.plan().controllers().map(|node| node.id).collect();
        match (self.view.controller, all.as_slice()) {
            (_, [only]) => vec![*only],
            (seen, _) => seen.into_iter().collect(),
        }
    }

    fn brokers(&self) -> Vec<NodeId> {
        self.plan().brokers().map(|node| node.id).collect()
    }

    fn is_up(&self, node: NodeId) -> bool {
        self.controls.cluster.state(node) != NodeState::Down
    }

    /// Draws among those that are up, so that a fault does not miss because it drew a dead one.
    fn draw(&mut self, mut nodes: Vec<NodeId>, count: usize) -> Vec<NodeId> {
        nodes.retain(|node| self.is_up(*node));
        nodes.sort_unstable();
        nodes.shuffle(self.rng);
        nodes.truncate(count);
        nodes
    }
}

fn followers(partition: &PartitionView, among: &[NodeId]) -> Vec<NodeId> {
    among.iter().copied().filter(|node| Some(*node) != partition.leader).collect()
}
