//! The committed metadata log, from the controller's files, in plain JSON.

use std::path::Path;

use highwater_history::{
    FormatError,
    lines::{LineWriter, Plain},
    metadata::MetadataRecord as Line,
};
use highwater_log::batch::Batch;
use highwater_wire::metadata::MetadataRecord;
use serde_json::{Map, Value, json};

use super::segments;
use crate::cluster::Cluster;

/// The folder of the metadata log.
const FOLDER: &str = "__cluster_metadata-0";
const DECOMPRESSED_LIMIT: usize = 64 * 1024 * 1024;

/// Writes `metadata.jsonl` from the controller whose log is the longest: the committed log is a
/// prefix of it, and all of it once the cluster is at rest. Without controllers there is none.
///
/// # Errors
/// When the log cannot be read or the file cannot be written.
pub fn collect(cluster: &Cluster, file: &Path) -> Result<(), FormatError> {
    if cluster.plan().controllers().next().is_none() {
        return Ok(());
    }
    let mut longest: Vec<Line> = Vec::new();
    for node in cluster.plan().controllers() {
        for folder in cluster.target().log_dirs(node) {
            let folder = folder.join(FOLDER);
            if folder.is_dir() {
                let lines = read(&folder)?;
                if lines.last().map(|line| line.offset) > longest.last().map(|line| line.offset) {
                    longest = lines;
                }
            }
        }
    }
    let mut writer = LineWriter::<Line>::create(file, &Plain {})?;
    for line in &longest {
        writer.write(line)?;
    }
    writer.finish()
}

fn read(folder: &Path) -> Result<Vec<Line>, FormatError> {
    let mut lines = Vec::new();
    segments::batches(folder, 0, |batch| lines.extend(records(&batch)))
        .map_err(|source| FormatError::io(folder, source))?;
    Ok(lines)
}

fn records(batch: &Batch) -> Vec<Line> {
    let header = *batch.header();
    if header.is_control() {
        return Vec::new();
    }
    let records = batch.records(DECOMPRESSED_LIMIT).into_iter().flatten().filter_map(Result::ok);
    records
        .map(|record| {
            let decoded = MetadataRecord::decode(record.value.as_deref().unwrap_or_default());
            let (kind, fields) = match decoded {
                Ok(decoded) => (camel_case(decoded.name()), fields(&decoded)),
                Err(error) => ("Unreadable".into(), json!({ "why": error.to_string() })),
            };
            Line {
                offset: record.offset,
                epoch: header.leader_epoch,
                timestamp_ms: record.timestamp,
                kind,
                fields,
            }
        })
        .collect()
}

/// `PARTITION_CHANGE_RECORD` as Kafka's schema spells it: `PartitionChangeRecord`.
fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        format!("{first}{}", rest.to_lowercase())
    };
    name.split('_').map(word).collect()
}

/// The fields that judging and reading need, by their schema names.
fn fields(record: &MetadataRecord) -> Value {
    match record {
        MetadataRecord::Topic(topic) => {
            json!({"name": topic.name, "topicId": topic.topic_id.to_string()})
        }
        MetadataRecord::RemoveTopic(topic) => json!({"topicId": topic.topic_id.to_string()}),
        MetadataRecord::Partition(partition) => json!({
            "topicId": partition.topic_id.to_string(),
            "partitionId": partition.partition_id,
            "replicas": partition.replicas,
            "isr": partition.isr,
            "leader": partition.leader,
            "leaderEpoch": partition.leader_epoch,
            "partitionEpoch": partition.partition_epoch,
            "leaderRecoveryState": partition.leader_recovery_state,
            "eligibleLeaderReplicas": partition.eligible_leader_replicas,
        }),
        MetadataRecord::PartitionChange(change) => partition_change(change),
        MetadataRecord::Config(config) => json!({
            "resourceType": config.resource_type,
            "resourceName": config.resource_name,
            "name": config.name,
            "value": config.value,
        }),
        MetadataRecord::RegisterBroker(broker) => json!({
            "brokerId": broker.broker_id,
            "brokerEpoch": broker.broker_epoch,
            "incarnationId": broker.incarnation_id.to_string(),
            "fenced": broker.fenced,
        }),
        MetadataRecord::BrokerRegistrationChange(change) => json!({
            "brokerId": change.broker_id,
            "brokerEpoch": change.broker_epoch,
            "fenced": change.fenced,
            "inControlledShutdown": change.in_controlled_shutdown,
        }),
        MetadataRecord::UnregisterBroker(broker) => {
            json!({"brokerId": broker.broker_id, "brokerEpoch": broker.broker_epoch})
        }
        MetadataRecord::FeatureLevel(feature) => {
            json!({"name": feature.name, "featureLevel": feature.feature_level})
        }
        MetadataRecord::ProducerIds(ids) => json!({
            "brokerId": ids.broker_id,
            "brokerEpoch": ids.broker_epoch,
            "nextProducerId": ids.next_producer_id,
        }),
        _ => json!({}),
    }
}

/// Only what changed: an absent field stays as it was.
fn partition_change(change: &highwater_wire::metadata::PartitionChangeRecord) -> Value {
    let all = json!({
        "topicId": change.topic_id.to_string(),
        "partitionId": change.partition_id,
        "isr": change.isr,
        "leader": change.leader,
        "replicas": change.replicas,
        "removingReplicas": change.removing_replicas,
        "addingReplicas": change.adding_replicas,
        "leaderRecoveryState": change.leader_recovery_state,
        "eligibleLeaderReplicas": change.eligible_leader_replicas,
    });
    let Value::Object(all) = all else { unreachable!("an object was written") };
    let unchanged = |name: &str, value: &Value| {
        value.is_null()
            || (name == "leader" && *value == highwater_wire::metadata::LEADER_UNCHANGED)
            || (name == "leaderRecoveryState"
                && *value == highwater_wire::metadata::RECOVERY_UNCHANGED)
    };
    let changed: Map<String, Value> =
        all.into_iter().filter(|(name, value)| !unchanged(name, value)).collect();
    Value::Object(changed)
}
