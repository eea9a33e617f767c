//! What was last observed of the cluster: leaders, epochs, replica sets, the active controller.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::cluster::NodeId;

/// A topic's partition, written `TOPIC-INDEX`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    /// The topic's name.
    pub topic: String,
    /// The partition's index in the topic.
    pub index: i32,
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.index)
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once('-').filter(|(topic, _)| !topic.is_empty());
        let index = parts.and_then(|(_, index)| index.parse().ok()).filter(|index| *index >= 0);
        match (parts, index) {
            (Some((topic, _)), Some(index)) => Ok(Self { topic: topic.to_owned(), index }),
            _ => Err(format!("`{text}` names no partition; write TOPIC-INDEX, such as t-0")),
        }
    }
}

impl TryFrom<String> for Partition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> Self {
        partition.to_string()
    }
}

/// What was observed of one partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PartitionView {
    /// Its leader; `None` when it has none.
    pub leader: Option<NodeId>,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// Its replicas in assignment order.
    pub replicas: Vec<NodeId>,
    /// Its in-sync replicas.
    pub isr: Vec<NodeId>,
    /// The log end offset of each replica that answered.
    pub leo: BTreeMap<NodeId, i64>,
    /// The high watermark that its leader answered.
    pub high_watermark: Option<i64>,
    /// The high watermark that each replica answered last, also one that is silent by now.
    pub told_hw: BTreeMap<NodeId, i64>,
}

/// What was observed of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ClusterView {
    /// When the newest answer in it was received, nanoseconds since the run's start.
    pub time_ns: u64,
    /// When each node was asked for what is known of it here, nanoseconds since the run's start:
    /// that was true then or later. `time_ns` is the newest answer of any one node; what must be
    /// seen of a node after some moment is known only if its own question left after that.
    pub asked_ns: BTreeMap<NodeId, u64>,
    /// Brokers that the controller holds for alive (not fenced).
    pub live_brokers: Vec<NodeId>,
    /// The active controller, where it was found.
    pub controller: Option<NodeId>,
    /// The partitions of the run's topics.
    pub partitions: BTreeMap<Partition, PartitionView>,
}

impl ClusterView {
    /// Whether every partition has a leader and all its replicas in the ISR.
    #[must_use]
    pub fn isr_is_full(&self) -> bool {
        let full = |p: &PartitionView| p.leader.is_some() && p.isr.len() == p.replicas.len();
        !self.partitions.is_empty() && self.partitions.values().all(full)
    }

    /// Whether what is known of `node` was asked after `at_ns`.
    #[must_use]
    pub fn asked_since(&self, node: NodeId, at_ns: u64) -> bool {
        self.asked_ns.get(&node).is_some_and(|asked| *asked > at_ns)
    }

    /// Whether `node` is fenced, or no partition with a replica on it has it in its ISR.
    #[must_use]
    pub fn has_dropped(&self, node: NodeId) -> bool {
        let mut replicas = self.partitions.values().filter(|p| p.replicas.contains(&node));
        !self.live_brokers.contains(&node) || replicas.all(|p| !p.isr.contains(&node))
    }
}
