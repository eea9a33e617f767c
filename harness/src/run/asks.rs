//! What the harness asks brokers, and what their answers say.

use std::{collections::BTreeMap, time::Duration};

use highwater_wire::{
    StrBytes,
    messages::{
        BrokerId, CreateTopicsRequest, FetchRequest, ListOffsetsRequest, MetadataRequest,
        TopicName,
        fetch_request::{FetchPartition, FetchTopic, ReplicaState},
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
        metadata_request::MetadataRequestTopic,
    },
};
use highwater_workloads::{Catalog, Key, client::log_start, op::code, outcome};

use super::setup::TopicSetup;
use crate::{
    direct::{Direct, DirectError},
    topics::{CREATE_TOPICS_VERSION, creatable},
};

const METADATA_VERSION: i16 = 12;
const LIST_OFFSETS_VERSION: i16 = 7;
const FETCH_VERSION: i16 = 16;
/// The newest version of Fetch in which topics have their names and the asker stands by itself.
const FETCH_BY_NAME: i16 = 12;
/// Kafka's debugging replica: reads followers, up to their log end.
const DEBUGGING_REPLICA: i32 = -2;
/// The timestamp that asks for the end of the log.
const LATEST: i64 = -1;

/// One broker's view of one partition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// Its leader; `None` when it has none.
    pub leader: Option<i32>,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// Replicas in assignment order.
    pub replicas: Vec<i32>,
    /// In-sync replicas.
    pub isr: Vec<i32>,
}

/// One broker's view of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterMetadata {
    /// Ids of the brokers that are not fenced.
    pub brokers: Vec<i32>,
    /// Topic ids by name.
    pub topics: BTreeMap<String, uuid::Uuid>,
    /// Partitions by topic name and number.
    pub partitions: BTreeMap<(String, i32), PartitionMetadata>,
}

/// What a replica says of itself, but for its log end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Log start offset.
    pub log_start: i64,
    /// Last stable offset, when given.
    pub lso: Option<i64>,
    /// High watermark.
    pub hw: i64,
}

/// Asks for the metadata of these topics.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn metadata(
    broker: &mut Direct,
    topics: impl IntoIterator<Item = &str>,
    patience: Duration,
) -> Result<ClusterMetadata, DirectError> {
    let topic = |name: &str| MetadataRequestTopic::default().with_name(Some(topic_name(name)));
    let request = MetadataRequest::default()
        .with_topics(Some(topics.into_iter().map(topic).collect()))
        .with_allow_auto_topic_creation(false);
    let answer = broker.call(METADATA_VERSION, request, patience).await?;
    let mut seen = ClusterMetadata {
        brokers: answer.brokers.iter().map(|broker| broker.node_id.0).collect(),
        ..ClusterMetadata::default()
    };
    for topic in answer.topics {
        let Some(name) = topic.name.filter(|_| topic.error_code == 0) else { continue };
        seen.topics.insert(name.to_string(), topic.topic_id);
        for partition in topic.partitions {
            let state = PartitionMetadata {
                leader: Some(partition.leader_id.0).filter(|id| *id >= 0),
                leader_epoch: partition.leader_epoch,
                replicas: ids(&partition.replica_nodes),
                isr: ids(&partition.isr_nodes),
            };
            seen.partitions.insert((name.to_string(), partition.partition_index), state);
        }
    }
    Ok(seen)
}

/// Creates topics under these names; gives the refusals: name, code, one sentence.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn create_topics(
    broker: &mut Direct,
    topics: &[(String, &TopicSetup)],
    patience: Duration,
) -> Result<Vec<(String, i16, String)>, DirectError> {
    let topic =
        |(name, setup): &(String, &TopicSetup)| creatable(name, &setup.assignment, &setup.configs);
    let request = CreateTopicsRequest::default()
        .with_topics(topics.iter().map(topic).collect())
        .with_timeout_ms(patience.as_millis() as i32);
    let answer = broker.call(CREATE_TOPICS_VERSION, request, patience).await?;
    let refused = answer.topics.iter().filter(|topic| topic.error_code != 0).map(|topic| {
        let why = topic.error_message.as_deref().unwrap_or("no reason given");
        let code = topic.error_code;
        let name = topic.name.to_string();
        let why = format!("topic {name}: {}: {why}", outcome::row(code).name);
        (name, code, why)
    });
    Ok(refused.collect())
}

/// Asks a replica for its high watermark, last stable offset and log start, of keys whose fetch
/// offsets it can serve.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn marks(
    broker: &mut Direct,
    catalog: &Catalog,
    keys: &[(Key, i64)],
    patience: Duration,
) -> Result<BTreeMap<Key, Result<Marks, &'static str>>, DirectError> {
    let request = fetch_request(catalog, keys, 1).with_max_bytes(1);
    let debugging = BrokerId(DEBUGGING_REPLICA);
    let request = match catalog.has_ids() {
        true => request.with_replica_state(ReplicaState::default().with_replica_id(debugging)),
        false => request.with_replica_id(debugging),
    };
    let answer = fetch(broker, catalog, request, patience).await?;
    let mut found = BTreeMap::new();
    for topic in answer.responses {
        for partition in topic.partitions {
            let key = catalog.told(topic.topic_id, &topic.topic, partition.partition_index);
            let Some(key) = key else { continue };
            let marks = Marks {
                log_start: partition.log_start_offset,
                lso: Some(partition.last_stable_offset).filter(|lso| *lso >= 0),
                hw: partition.high_watermark,
            };
            let code = partition.error_code;
            let said = if code == 0 { Ok(marks) } else { Err(outcome::row(code).name) };
            found.insert(key, said);
        }
    }
    Ok(found)
}

/// A Fetch of these keys from these offsets, as a consumer without a session asks.
pub fn fetch_request(catalog: &Catalog, keys: &[(Key, i64)], max_bytes: i32) -> FetchRequest {
    let mut topics: BTreeMap<&str, (uuid::Uuid, Vec<FetchPartition>)> = BTreeMap::new();
    for (key, offset) in keys {
        let partition = FetchPartition::default()
            .with_partition(catalog.partition(*key))
            .with_current_leader_epoch(-1)
            .with_fetch_offset(*offset)
            .with_partition_max_bytes(max_bytes);
        let topic = catalog.topic(*key);
        topics.entry(&topic.name).or_insert((topic.id, Vec::new())).1.push(partition);
    }
    // Each version has one of name and id.
    let topic = |(name, (id, partitions))| {
        let topic = FetchTopic::default().with_topic(topic_name(name)).with_topic_id(id);
        topic.with_partitions(partitions)
    };
    FetchRequest::default()
        .with_max_wait_ms(0)
        .with_min_bytes(0)
        .with_max_bytes(i32::MAX)
        .with_topics(topics.into_iter().map(topic).collect())
}

/// Reads as a consumer does, from these offsets: by name where the broker gave its topics no ids.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn fetch(
    broker: &mut Direct,
    catalog: &Catalog,
    request: FetchRequest,
    patience: Duration,
) -> Result<highwater_wire::messages::FetchResponse, DirectError> {
    let version = if catalog.has_ids() { FETCH_VERSION } else { FETCH_BY_NAME };
    broker.call(version, request, patience).await
}

/// Asks a replica for its log end offsets; a key whose answer is an error is left out.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn log_ends(
    broker: &mut Direct,
    catalog: &Catalog,
    keys: impl IntoIterator<Item = Key>,
    patience: Duration,
) -> Result<BTreeMap<Key, i64>, DirectError> {
    let mut topics: BTreeMap<String, Vec<ListOffsetsPartition>> = BTreeMap::new();
    for key in keys {
        let partition = ListOffsetsPartition::default()
            .with_partition_index(catalog.partition(key))
            .with_timestamp(LATEST);
        topics.entry(catalog.topic(key).name.clone()).or_default().push(partition);
    }
    let topic = |(name, partitions): (String, _)| {
        ListOffsetsTopic::default().with_name(topic_name(&name)).with_partitions(partitions)
    };
    let request = ListOffsetsRequest::default()
        .with_replica_id(BrokerId(DEBUGGING_REPLICA))
        .with_topics(topics.into_iter().map(topic).collect());
    let answer = broker.call(LIST_OFFSETS_VERSION, request, patience).await?;
    let mut ends = BTreeMap::new();
    for topic in answer.topics {
        for partition in topic.partitions.iter().filter(|partition| partition.error_code == 0) {
            if let Some(key) = catalog.by_name(&topic.name, partition.partition_index) {
                ends.insert(key, partition.offset);
            }
        }
    }
    Ok(ends)
}

/// Asks a leader where a key begins, as a consumer does; the code where it does not say.
///
/// # Errors
/// When the broker cannot be asked.
pub async fn log_start(
    broker: &mut Direct,
    catalog: &Catalog,
    key: Key,
    patience: Duration,
) -> Result<Result<i64, &'static str>, DirectError> {
    /// The harness asks whatever it knows of the leader.
    const ANY_EPOCH: i32 = -1;
    let request = log_start::request(catalog, &[(key, ANY_EPOCH)]);
    let answer = broker.call(log_start::VERSION, request, patience).await?;
    let told = log_start::told(catalog, &answer).pop();
    Ok(told.map_or(Err(code::MALFORMED_ANSWER), |(_, begins)| begins))
}

fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

fn ids(nodes: &[BrokerId]) -> Vec<i32> {
    nodes.iter().map(|node| node.0).collect()
}
