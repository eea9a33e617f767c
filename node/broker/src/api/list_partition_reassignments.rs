//! ListPartitionReassignments: which reassignments are under way (KIP-455).

use highwater_node_core::controller::reply::OngoingReassignment;
use highwater_node_core::controller::request::PartitionRef;
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::types::BrokerId;
use highwater_wire::messages::list_partition_reassignments_response::{
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use highwater_wire::messages::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, TopicName,
};
use highwater_wire::{ErrorCode, StrBytes};

use crate::controller::answer;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(ListPartitionReassignments, Forwarded, handle, refuse);

fn handle(node: &mut Node, request: ListPartitionReassignmentsRequest, reply: ReplyToken) {
    let refused = refuse(&request, ErrorCode::NotController);
    let asked = Request::ListReassignments(filter(&request));
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::ListReassignments(ongoing) => response(ongoing),
        other => unreachable!("a listing is not answered by {other:?}"),
    });
}

fn refuse(
    _request: &ListPartitionReassignmentsRequest,
    error: ErrorCode,
) -> ListPartitionReassignmentsResponse {
    ListPartitionReassignmentsResponse::default().with_error_code(error.code())
}

fn filter(request: &ListPartitionReassignmentsRequest) -> Option<Vec<PartitionRef>> {
    let topics = request.topics.as_ref()?;
    let mut wanted = Vec::new();
    for topic in topics {
        let name = topic.name.to_string();
        let place = |index: &i32| PartitionRef { topic: name.clone(), index: *index };
        wanted.extend(topic.partition_indexes.iter().map(place));
    }
    Some(wanted)
}

fn response(ongoing: Vec<OngoingReassignment>) -> ListPartitionReassignmentsResponse {
    let ids = |brokers: &[BrokerId]| brokers.iter().map(|id| id.0.into()).collect();
    let mut topics: Vec<OngoingTopicReassignment> = Vec::new();
    for one in ongoing {
        let row = OngoingPartitionReassignment::default()
            .with_partition_index(one.partition.index)
            .with_replicas(ids(&one.replicas))
            .with_adding_replicas(ids(&one.adding))
            .with_removing_replicas(ids(&one.removing));
        match topics.iter_mut().find(|topic| topic.name.as_str() == one.partition.topic) {
            Some(topic) => topic.partitions.push(row),
            None => topics.push(
                OngoingTopicReassignment::default()
                    .with_name(TopicName(StrBytes::from_string(one.partition.topic)))
                    .with_partitions(vec![row]),
            ),
        }
    }
    ListPartitionReassignmentsResponse::default().with_topics(topics)
}
