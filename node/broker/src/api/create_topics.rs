//! CreateTopics: topics with their partitions, placement and settings.

use std::sync::Arc;

use highwater_node_core::controller::reply::CreatedTopic;
use highwater_node_core::controller::request::{CreateTopics, NewTopic};
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::error::Refusal;
use highwater_node_core::metadata::record::Resource;
use highwater_node_core::types::BrokerId;
use highwater_wire::messages::create_topics_request::CreatableTopic;
use highwater_wire::messages::create_topics_response::{
    CreatableTopicConfigs, CreatableTopicResult,
};
use highwater_wire::messages::{CreateTopicsRequest, CreateTopicsResponse, TopicName};
use highwater_wire::{ErrorCode, StrBytes};
use rand::RngExt;
use uuid::Uuid;

use crate::config::NodeConfig;
use crate::config::describe::{self, Described, Places, Values};
use crate::controller::{answer, code_and_message};
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(CreateTopics, Forwarded, handle, refuse);

/// Counts and settings of the created topic are told from here on (KIP-525).
const DETAILS_SINCE: i16 = 5;
/// The topic's id is told from here on (KIP-516).
const TOPIC_ID_SINCE: i16 = 7;

fn handle(node: &mut Node, request: CreateTopicsRequest, reply: ReplyToken) {
    let refused = refuse(&request, ErrorCode::NotController);
    let asked = Request::CreateTopics(CreateTopics {
        topics: request.topics.iter().map(new_topic).collect(),
        validate_only: request.validate_only,
        seed: node.kernel.random().random(),
    });
    let version = reply.version();
    let defaults = Defaults {
        config: Arc::clone(&node.config),
        cluster: node.image().configs.get(&Resource::Broker(None)).cloned(),
    };
    answer(node, reply, asked, refused, move |reply| match reply {
        Reply::CreateTopics(topics) => {
            let row = |(name, result)| topic_result(version, name, result, &defaults);
            CreateTopicsResponse::default().with_topics(topics.into_iter().map(row).collect())
        }
        other => unreachable!("a creation is not answered by {other:?}"),
    });
}

/// What a topic's settings are when nobody sets them on it.
struct Defaults {
    config: Arc<NodeConfig>,
    cluster: Option<Values>,
}

fn refuse(request: &CreateTopicsRequest, error: ErrorCode) -> CreateTopicsResponse {
    let row = |topic: &CreatableTopic| {
        CreatableTopicResult::default().with_name(topic.name.clone()).with_error_code(error.code())
    };
    CreateTopicsResponse::default().with_topics(request.topics.iter().map(row).collect())
}

fn new_topic(topic: &CreatableTopic) -> NewTopic {
    let brokers =
        |ids: &[highwater_wire::messages::BrokerId]| ids.iter().map(|id| BrokerId(id.0)).collect();
    NewTopic {
        name: topic.name.to_string(),
        partitions: topic.num_partitions,
        replication_factor: topic.replication_factor,
        assignments: topic
            .assignments
            .iter()
            .map(|placed| (placed.partition_index, brokers(&placed.broker_ids)))
            .collect(),
        configs: topic
            .configs
            .iter()
            .map(|config| {
                let value = config.value.as_ref().map(StrBytes::to_string);
                (config.name.to_string(), value)
            })
            .collect(),
    }
}

fn topic_result(
    version: i16,
    name: String,
    result: Result<CreatedTopic, Refusal>,
    defaults: &Defaults,
) -> CreatableTopicResult {
    let (code, message) = code_and_message(&result);
    let row = CreatableTopicResult::default()
        .with_name(TopicName(StrBytes::from_string(name)))
        .with_error_code(code)
        .with_error_message(message);
    let Ok(created) = result else { return row };
    let row = match version {
        TOPIC_ID_SINCE.. => row.with_topic_id(Uuid::from_u128(created.id.0)),
        _ => row,
    };
    match version {
        DETAILS_SINCE.. => row
            .with_num_partitions(created.partitions)
            .with_replication_factor(created.replication_factor)
            .with_configs(Some(configs(created.configs, defaults))),
        _ => row,
    }
}

/// The settings in force, each with its place.
fn configs(own: Vec<(String, String)>, defaults: &Defaults) -> Vec<CreatableTopicConfigs> {
    let own: Values = own.into_iter().collect();
    let places = Places {
        topic: Some(&own),
        broker: None,
        cluster: defaults.cluster.as_ref(),
        file: &defaults.config.given,
    };
    let row = |one: Described| {
        CreatableTopicConfigs::default()
            .with_name(StrBytes::from_string(one.name))
            .with_value(one.value.map(StrBytes::from_string))
            .with_read_only(one.read_only)
            .with_config_source(one.source as i8)
    };
    describe::topic(&places).into_iter().map(row).collect()
}
