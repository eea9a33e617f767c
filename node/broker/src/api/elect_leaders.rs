//! ElectLeaders: preferred and unclean elections that an operator asks for (KIP-460; rule 27).

use highwater_node_core::controller::request::{ElectLeaders, ElectionKind, PartitionRef};
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::error::Refusal;
use highwater_wire::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use highwater_wire::messages::{ElectLeadersRequest, ElectLeadersResponse, TopicName};
use highwater_wire::{ErrorCode, StrBytes};

use crate::controller::{answer, code_and_message};
use crate::group::by_topic;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(ElectLeaders, Forwarded, handle, refuse);

/// Kafka's numbers of the kinds of election.
const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

fn handle(node: &mut Node, request: ElectLeadersRequest, reply: ReplyToken) {
    let kind = match request.election_type {
        PREFERRED => ElectionKind::Preferred,
        UNCLEAN => ElectionKind::Unclean,
        _ => {
            let refused = refuse(&request, ErrorCode::InvalidRequest);
            return node.kernel.reply(reply, refused);
        }
    };
    let partitions = request.topic_partitions.as_ref().map(|_| places(&request));
    let refused = refuse(&request, ErrorCode::NotController);
    let asked = Request::ElectLeaders(ElectLeaders { kind, partitions });
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::ElectLeaders(results) => response(&results),
        other => unreachable!("an election is not answered by {other:?}"),
    });
}

fn refuse(request: &ElectLeadersRequest, error: ErrorCode) -> ElectLeadersResponse {
    let places = places(request);
    grouped(places.iter().map(|place| {
        let row = PartitionResult::default().with_partition_id(place.index);
        (place.topic.as_str(), row.with_error_code(error.code()))
    }))
}

fn places(request: &ElectLeadersRequest) -> Vec<PartitionRef> {
    let topics = request.topic_partitions.iter().flatten();
    let of_topic = |topic: &highwater_wire::messages::elect_leaders_request::TopicPartitions| {
        let name = topic.topic.to_string();
        let place = |index: &i32| PartitionRef { topic: name.clone(), index: *index };
        topic.partitions.iter().map(place).collect::<Vec<_>>()
    };
    topics.flat_map(of_topic).collect()
}

fn response(results: &[(PartitionRef, Result<(), Refusal>)]) -> ElectLeadersResponse {
    grouped(results.iter().map(|(place, result)| {
        let (code, message) = code_and_message(result);
        let row = PartitionResult::default()
            .with_partition_id(place.index)
            .with_error_code(code)
            .with_error_message(message);
        (place.topic.as_str(), row)
    }))
}

fn grouped<'a>(rows: impl Iterator<Item = (&'a str, PartitionResult)>) -> ElectLeadersResponse {
    let topics = by_topic(rows).into_iter().map(|(topic, rows)| {
        ReplicaElectionResult::default()
            .with_topic(TopicName(StrBytes::from_string(topic.to_owned())))
            .with_partition_result(rows)
    });
    ElectLeadersResponse::default().with_replica_election_results(topics.collect())
}
