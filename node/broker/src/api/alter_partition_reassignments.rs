//! AlterPartitionReassignments: new assignments (KIP-455); here a new order of the same replicas.

use highwater_node_core::controller::request::{PartitionRef, Reassignment};
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::error::Refusal;
use highwater_node_core::types::BrokerId;
use highwater_wire::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use highwater_wire::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, TopicName,
};
use highwater_wire::{ErrorCode, StrBytes};

use crate::controller::{answer, code_and_message};
use crate::group::by_topic;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(AlterPartitionReassignments, Forwarded, handle, refuse);

fn handle(node: &mut Node, request: AlterPartitionReassignmentsRequest, reply: ReplyToken) {
    let refused = refuse(&request, ErrorCode::NotController);
    let asked = Request::AlterReassignments(reassignments(&request));
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::AlterReassignments(results) => response(&results),
        other => unreachable!("a reassignment is not answered by {other:?}"),
    });
}

fn refuse(
    _request: &AlterPartitionReassignmentsRequest,
    error: ErrorCode,
) -> AlterPartitionReassignmentsResponse {
    AlterPartitionReassignmentsResponse::default().with_error_code(error.code())
}

fn reassignments(request: &AlterPartitionReassignmentsRequest) -> Vec<Reassignment> {
    let mut all = Vec::new();
    for topic in &request.topics {
        for partition in &topic.partitions {
            let place =
                PartitionRef { topic: topic.name.to_string(), index: partition.partition_index };
            let replicas = partition.replicas.as_ref();
            let replicas = replicas.map(|ids| ids.iter().map(|id| BrokerId(id.0)).collect());
            all.push(Reassignment { partition: place, replicas });
        }
    }
    all
}

fn response(
    results: &[(PartitionRef, Result<(), Refusal>)],
) -> AlterPartitionReassignmentsResponse {
    let rows = results.iter().map(|(place, result)| {
        let (code, message) = code_and_message(result);
        let row = ReassignablePartitionResponse::default()
            .with_partition_index(place.index)
            .with_error_code(code)
            .with_error_message(message);
        (place.topic.as_str(), row)
    });
    let topics = by_topic(rows).into_iter().map(|(topic, rows)| {
        ReassignableTopicResponse::default()
            .with_name(TopicName(StrBytes::from_string(topic.to_owned())))
            .with_partitions(rows)
    });
    AlterPartitionReassignmentsResponse::default().with_responses(topics.collect())
}
