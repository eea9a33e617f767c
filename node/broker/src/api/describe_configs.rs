//! DescribeConfigs: the settings of topics and of this node, and where each comes from.

use highwater_node_core::controller::check_topic_name;
use highwater_node_core::error::Refusal;
use highwater_node_core::metadata::record::Resource;
use highwater_node_core::types::BrokerId;
use highwater_wire::messages::describe_configs_request::DescribeConfigsResource;
use highwater_wire::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use highwater_wire::messages::{DescribeConfigsRequest, DescribeConfigsResponse};
use highwater_wire::{ErrorCode, StrBytes};

use crate::config::Kind;
use crate::config::describe::{self, Described, Places, Synonym};
use crate::node::Node;
use crate::once::firsts;
use crate::reply::ReplyToken;

entry!(DescribeConfigs, Both, handle);

/// Kafka's number of the resource that is a topic.
const TOPIC: i8 = 2;
/// Kafka's number of the resource that is a broker, or with an empty name all brokers.
const BROKER: i8 = 4;
/// The first version that tells types and documentation (KIP-569).
const TYPES_SINCE: i16 = 3;

/// What the answer holds beside names and values.
#[derive(Clone, Copy)]
struct Detail {
    types: bool,
    synonyms: bool,
    documentation: bool,
}

fn handle(node: &mut Node, request: DescribeConfigsRequest, reply: ReplyToken) {
    let types = reply.version() >= TYPES_SINCE;
    let detail = Detail {
        types,
        synonyms: request.include_synonyms,
        documentation: types && request.include_documentation,
    };
    let asked = firsts(request.resources.iter(), |resource| {
        let keys = resource.configuration_keys.as_deref().unwrap_or_default();
        (resource.resource_type, resource.resource_name.as_str(), keys)
    });
    let results = asked.map(|resource| result(node, resource, detail)).collect();
    node.kernel.reply(reply, DescribeConfigsResponse::default().with_results(results));
}

fn result(node: &Node, asked: &DescribeConfigsResource, detail: Detail) -> DescribeConfigsResult {
    let result = DescribeConfigsResult::default()
        .with_resource_type(asked.resource_type)
        .with_resource_name(asked.resource_name.clone());
    let described = match describe(node, asked) {
        Ok(described) => described,
        Err((code, message)) => {
            let message = Some(StrBytes::from_string(message));
            return result.with_error_code(code.code()).with_error_message(message);
        }
    };
    let keys = asked.configuration_keys.as_deref().unwrap_or_default();
    let wanted = |one: &Described| keys.is_empty() || keys.iter().any(|key| **key == *one.name);
    let rows = described.into_iter().filter(wanted).map(|one| row(one, detail));
    result.with_configs(rows.collect())
}

fn describe(
    node: &Node,
    asked: &DescribeConfigsResource,
) -> Result<Vec<Described>, (ErrorCode, String)> {
    let name = asked.resource_name.as_str();
    let image = node.image();
    let set = |resource: Resource| image.configs.get(&resource);
    let mut places = Places {
        topic: None,
        broker: set(Resource::Broker(Some(node.config.node_id))),
        cluster: set(Resource::Broker(None)),
        file: &node.config.given,
    };
    match asked.resource_type {
        TOPIC => {
            check_topic_name(name)
                .map_err(|refusal: Refusal| (ErrorCode::InvalidTopicException, refusal.message))?;
            if image.topic_named(name).is_none() {
                let message = format!("there is no topic {name}");
                return Err((ErrorCode::UnknownTopicOrPartition, message));
            }
            places.topic = set(Resource::Topic(name.to_owned()));
            Ok(describe::topic(&places))
        }
        BROKER if name.is_empty() => Ok(describe::cluster(places.cluster)),
        BROKER if is_own(node.config.node_id, name) => Ok(describe::node(&places)),
        BROKER => {
            let id = node.config.node_id;
            let message = format!("broker {name:?} describes itself; this is broker {id}");
            Err((ErrorCode::InvalidRequest, message))
        }
        other => {
            let message = format!("resources of type {other} have no configuration here");
            Err((ErrorCode::InvalidRequest, message))
        }
    }
}

fn is_own(id: BrokerId, name: &str) -> bool {
    name.parse() == Ok(id.0)
}

fn row(one: Described, detail: Detail) -> DescribeConfigsResourceResult {
    let synonyms = if detail.synonyms { one.synonyms } else { Vec::new() };
    let doc = detail.documentation.then(|| StrBytes::from_static_str(one.doc));
    DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_string(one.name))
        .with_value(one.value.map(StrBytes::from_string))
        .with_read_only(one.read_only)
        .with_config_source(one.source as i8)
        .with_config_type(if detail.types { type_number(one.kind) } else { 0 })
        .with_synonyms(synonyms.into_iter().map(wire_synonym).collect())
        .with_documentation(doc)
}

fn wire_synonym(synonym: Synonym) -> DescribeConfigsSynonym {
    DescribeConfigsSynonym::default()
        .with_name(StrBytes::from_string(synonym.name))
        .with_value(synonym.value.map(StrBytes::from_string))
        .with_source(synonym.source as i8)
}

/// Kafka's number of a property's type.
fn type_number(kind: Kind) -> i8 {
    match kind {
        Kind::Boolean => 1,
        Kind::Text | Kind::Choice(_) => 2,
        Kind::Number(_, max) if max <= i64::from(i32::MAX) => 3,
        Kind::Number(..) => 5,
        Kind::Fraction(..) => 6,
        Kind::Choices(_) | Kind::List => 7,
    }
}
