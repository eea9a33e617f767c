//! `samples.jsonl`: what each replica and controller said of itself while the run lasted.

use serde::{Deserialize, Serialize};

use crate::{
    lines::{Line, Plain},
    types::{Key, LeaderEpoch, NodeId, Offset, TimeNs},
};

/// One answer of one node; what it says was true at some instant of `[asked, answered]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When the question left.
    pub asked: TimeNs,
    /// When the answer came, or when none was waited for any longer.
    pub answered: TimeNs,
    /// Who was asked.
    pub node: NodeId,
    /// What it said.
    #[serde(flatten)]
    pub said: Said,
}

impl Line for Sample {
    const KIND: &'static str = "samples";
    const FORMAT: u64 = 1;
    const GROWS: bool = true;
    type Header = Plain;
}

/// What a node said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Said {
    /// A replica of one key about itself.
    Replica(ReplicaState),
    /// A node's view of one key's leadership, from its metadata.
    Partition(PartitionState),
    /// Nothing: the node did not answer in time, or refused.
    Silent {
        /// Why.
        error: String,
    },
}

/// A replica about itself. The high watermark was asked before the log end, the log start before
/// the high watermark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaState {
    /// The key.
    pub key: Key,
    /// Log start offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_start: Option<Offset>,
    /// Last stable offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lso: Option<Offset>,
    /// High watermark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hw: Option<Offset>,
    /// Log end offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leo: Option<Offset>,
    /// The leader epoch that the replica follows or leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_epoch: Option<LeaderEpoch>,
    /// Whether it believes that it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads: Option<bool>,
}

/// A node's view of one key's leadership.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionState {
    /// The key.
    pub key: Key,
    /// The leader; none while the partition has none.
    pub leader: Option<NodeId>,
    /// Leader epoch.
    pub leader_epoch: LeaderEpoch,
    /// Partition epoch, where the node tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_epoch: Option<i32>,
    /// In-sync replicas.
    pub isr: Vec<NodeId>,
    /// Eligible leader replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elr: Vec<NodeId>,
    /// Assigned replicas, in assignment order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<NodeId>,
}
