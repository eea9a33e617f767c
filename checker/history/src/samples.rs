//! `samples.jsonl`: what each replica and controller said of itself while the run lasted.

use serde::{Deserialize, Serialize};

use crate::{
    lines::{Line, Plain},
    types::{Key, LeaderEpoch, NodeId, Offset, TimeNs},
};

/// One answer of one node; what it says was true at some instant of `[asked, answered]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Told")]
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

/// A sample as its line has it: what is wrong with a field can be told by the field's name.
#[derive(Deserialize)]
struct Told {
    asked: TimeNs,
    answered: TimeNs,
    node: NodeId,
    kind: Kind,
    error: Option<String>,
    key: Option<Key>,
    log_start: Option<Offset>,
    lso: Option<Offset>,
    hw: Option<Offset>,
    leo: Option<Offset>,
    leader_epoch: Option<LeaderEpoch>,
    leads: Option<bool>,
    leader: Option<NodeId>,
    partition_epoch: Option<i32>,
    isr: Option<Vec<NodeId>>,
    #[serde(default)]
    elr: Vec<NodeId>,
    #[serde(default)]
    replicas: Vec<NodeId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Replica,
    Partition,
    Silent,
}

impl TryFrom<Told> for Sample {
    type Error = String;

    fn try_from(told: Told) -> Result<Self, String> {
        let missing = |field: &str| format!("field `{field}`: missing");
        let key = told.key.ok_or_else(|| missing("key"));
        let said = match told.kind {
            Kind::Replica => Said::Replica(ReplicaState {
                key: key?,
                log_start: told.log_start,
                lso: told.lso,
                hw: told.hw,
                leo: told.leo,
                leader_epoch: told.leader_epoch,
                leads: told.leads,
            }),
            Kind::Partition => Said::Partition(PartitionState {
                key: key?,
                leader: told.leader,
                leader_epoch: told.leader_epoch.ok_or_else(|| missing("leader_epoch"))?,
                partition_epoch: told.partition_epoch,
                isr: told.isr.ok_or_else(|| missing("isr"))?,
                elr: told.elr,
                replicas: told.replicas,
            }),
            Kind::Silent => Said::Silent { error: told.error.ok_or_else(|| missing("error"))? },
        };
        Ok(Self { asked: told.asked, answered: told.answered, node: told.node, said })
    }
}

impl Line for Sample {
    const KIND: &'static str = "samples";
    const FORMAT: u64 = 1;
    const GROWS: bool = true;
    type Header = Plain;
}

/// What a node said.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplicaState {
    /// The key.
    pub key: Key,
    /// Log start offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_start: Option<Offset>,
    /// Last stable offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lso: Option<Offset>,
    /// High watermark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hw: Option<Offset>,
    /// Log end offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leo: Option<Offset>,
    /// The leader epoch that the replica follows or leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader_epoch: Option<LeaderEpoch>,
    /// Whether it believes that it leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leads: Option<bool>,
}

/// A node's view of one key's leadership.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartitionState {
    /// The key.
    pub key: Key,
    /// The leader; none while the partition has none.
    pub leader: Option<NodeId>,
    /// Leader epoch.
    pub leader_epoch: LeaderEpoch,
    /// Partition epoch, where the node tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_epoch: Option<i32>,
    /// In-sync replicas.
    pub isr: Vec<NodeId>,
    /// Eligible leader replicas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elr: Vec<NodeId>,
    /// Assigned replicas, in assignment order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<NodeId>,
}
