//! IncrementalAlterConfigs: changes of single properties (KIP-339).

use highwater_node_core::controller::request::{AlterConfigs, ConfigChange, ConfigOp};
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::error::Refusal;
use highwater_node_core::metadata::record::Resource;
use highwater_wire::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use highwater_wire::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use highwater_wire::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};
use highwater_wire::{ErrorCode, StrBytes};

use crate::controller::{answer, code_and_message};
use crate::metadata_log::resource_of;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(IncrementalAlterConfigs, Forwarded, handle, refuse);

fn handle(node: &mut Node, request: IncrementalAlterConfigsRequest, reply: ReplyToken) {
    let mut resources = Vec::new();
    for asked in &request.resources {
        let changes: Option<Vec<ConfigChange>> = asked.configs.iter().map(change).collect();
        let Some(changes) = changes else {
            let refused = refuse(&request, ErrorCode::InvalidRequest);
            return node.kernel.reply(reply, refused);
        };
        resources.push((resource(asked), changes));
    }
    let refused = refuse(&request, ErrorCode::NotController);
    let validate_only = request.validate_only;
    let asked = Request::AlterConfigs(AlterConfigs { resources, validate_only });
    answer(node, reply, asked, refused, move |reply| match reply {
        Reply::AlterConfigs(results) => response(&request, &results),
        other => unreachable!("a change of configurations is not answered by {other:?}"),
    });
}

fn refuse(
    request: &IncrementalAlterConfigsRequest,
    error: ErrorCode,
) -> IncrementalAlterConfigsResponse {
    let row = |asked: &AlterConfigsResource| named(asked).with_error_code(error.code());
    let rows = request.resources.iter().map(row).collect();
    IncrementalAlterConfigsResponse::default().with_responses(rows)
}

fn resource(asked: &AlterConfigsResource) -> Resource {
    resource_of(asked.resource_type, asked.resource_name.to_string())
}

/// The change in Kafka's numbers; `None` for a number that it does not have.
fn change(asked: &AlterableConfig) -> Option<ConfigChange> {
    let value = asked.value.as_ref().map(StrBytes::to_string);
    let op = match asked.config_operation {
        0 => ConfigOp::Set(value),
        1 => ConfigOp::Delete,
        2 => ConfigOp::Append(value),
        3 => ConfigOp::Subtract(value),
        _ => return None,
    };
    Some(ConfigChange { name: asked.name.to_string(), op })
}

fn response(
    request: &IncrementalAlterConfigsRequest,
    results: &[(Resource, Result<(), Refusal>)],
) -> IncrementalAlterConfigsResponse {
    let rows = request.resources.iter().zip(results).map(|(asked, (_, result))| {
        let (code, message) = code_and_message(result);
        named(asked).with_error_code(code).with_error_message(message)
    });
    IncrementalAlterConfigsResponse::default().with_responses(rows.collect())
}

fn named(asked: &AlterConfigsResource) -> AlterConfigsResourceResponse {
    AlterConfigsResourceResponse::default()
        .with_resource_type(asked.resource_type)
        .with_resource_name(asked.resource_name.clone())
}
