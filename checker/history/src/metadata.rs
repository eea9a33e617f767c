//! `metadata.jsonl`: the committed metadata log, one record a line, in plain JSON.
//!
//! Types and fields have the names of Kafka's metadata record schemas (`PartitionRecord`,
//! `leaderEpoch`, ...), so that every tool that knows Kafka can read them.

use serde::{Deserialize, Serialize};

use crate::{
    lines::{Line, Plain},
    types::{LeaderEpoch, NodeId, Offset},
};

/// One committed metadata record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataRecord {
    /// Offset in the metadata log.
    pub offset: Offset,
    /// The quorum epoch that it was appended under.
    pub epoch: LeaderEpoch,
    /// When the controller appended it, wall clock, milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Name of the record's schema.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its fields by their schema names.
    pub fields: serde_json::Value,
}

impl Line for MetadataRecord {
    const KIND: &'static str = "metadata";
    const FORMAT: u64 = 1;
    type Header = Plain;
}

impl MetadataRecord {
    /// Its fields, if it is of that kind and they are as expected.
    pub fn of_kind<T: for<'de> Deserialize<'de>>(&self, kind: &str) -> Option<T> {
        (self.kind == kind).then(|| T::deserialize(&self.fields).ok()).flatten()
    }
}

/// The fields of `TopicRecord` that judging needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TopicFields {
    /// Topic name.
    pub name: String,
    /// Topic id, in the text form that `PartitionFields` uses too.
    #[serde(rename = "topicId")]
    pub topic_id: String,
}

/// The fields of `PartitionRecord` and `PartitionChangeRecord` that judging needs; in a change,
/// what is absent stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PartitionFields {
    /// Topic id.
    #[serde(rename = "topicId")]
    pub topic_id: String,
    /// Partition number.
    #[serde(rename = "partitionId")]
    pub partition: i32,
    /// Leader, -1 for none; in a change -2 means that it stays.
    #[serde(default)]
    pub leader: Option<i32>,
    /// Leader epoch (full records only; in a change it rises with every leader given).
    #[serde(rename = "leaderEpoch", default)]
    pub leader_epoch: Option<LeaderEpoch>,
    /// Partition epoch (full records only; it rises with every change).
    #[serde(rename = "partitionEpoch", default)]
    pub partition_epoch: Option<i32>,
    /// In-sync replicas.
    #[serde(default)]
    pub isr: Option<Vec<i32>>,
    /// Assigned replicas.
    #[serde(default)]
    pub replicas: Option<Vec<i32>>,
    /// Eligible leader replicas.
    #[serde(rename = "eligibleLeaderReplicas", default)]
    pub elr: Option<Vec<i32>>,
    /// 1 after an unclean election, until recovered.
    #[serde(rename = "leaderRecoveryState", default)]
    pub recovery: Option<i8>,
}

/// The fields of `ConfigRecord`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ConfigFields {
    /// 2 for a topic, 4 for a broker (empty name: all brokers).
    #[serde(rename = "resourceType")]
    pub resource_type: i8,
    /// Topic name, broker id, or empty.
    #[serde(rename = "resourceName")]
    pub resource_name: String,
    /// Property name.
    pub name: String,
    /// The value; none where it was removed.
    pub value: Option<String>,
}

/// The fields of `RegisterBrokerRecord`: a new incarnation of a broker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RegisterBrokerFields {
    /// The broker.
    #[serde(rename = "brokerId")]
    pub broker: NodeId,
    /// Whether it is fenced from the start, as brokers are.
    pub fenced: bool,
    /// Whether it is stopping.
    #[serde(rename = "inControlledShutdown", default)]
    pub stopping: bool,
}

/// The fields of `BrokerRegistrationChangeRecord`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BrokerChangeFields {
    /// The broker.
    #[serde(rename = "brokerId")]
    pub broker: NodeId,
    /// 1 for fenced from now on, -1 for not any more, 0 for no change.
    #[serde(default)]
    pub fenced: i8,
    /// 1 for stopping from now on, 0 for no change.
    #[serde(rename = "inControlledShutdown", default)]
    pub stopping: i8,
}

/// The fields of `UnregisterBrokerRecord`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UnregisterBrokerFields {
    /// The broker.
    #[serde(rename = "brokerId")]
    pub broker: NodeId,
}

/// The fields of `FeatureLevelRecord`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FeatureFields {
    /// The feature.
    pub name: String,
    /// Its level; 0 is off.
    #[serde(rename = "featureLevel")]
    pub level: i16,
}

/// The fields of `ProducerIdsRecord`: a block of producer ids is given out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ProducerIdsFields {
    /// The first id after the block.
    #[serde(rename = "nextProducerId")]
    pub next_producer_id: i64,
}
