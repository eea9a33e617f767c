//! DescribeQuorum: the metadata quorum's leader, voters and observers (KIP-595).

use highwater_wire::ErrorCode;
use highwater_wire::messages::describe_quorum_request::{
    PartitionData as Asked, TopicData as Topic,
};
use highwater_wire::messages::describe_quorum_response::{PartitionData, TopicData};
use highwater_wire::messages::{DescribeQuorumRequest, DescribeQuorumResponse};

use crate::controller;
use crate::metadata_log::TOPIC;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(DescribeQuorum, Forwarded, handle, refuse);

fn handle(node: &mut Node, request: DescribeQuorumRequest, reply: ReplyToken) {
    if !is_about_metadata(&request) {
        let response = unknown(&request);
        return node.kernel.reply(reply, response);
    }
    if !node.controller().quorum().is_leader() {
        let refused = refuse(&request, ErrorCode::NotController);
        return controller::refuse(node, reply, refused);
    }
    let response = controller::describe_quorum(node, reply.version());
    node.kernel.reply(reply, response);
}

fn refuse(_request: &DescribeQuorumRequest, error: ErrorCode) -> DescribeQuorumResponse {
    DescribeQuorumResponse::default().with_error_code(error.code())
}

fn is_about_metadata(request: &DescribeQuorumRequest) -> bool {
    let right = |topic: &Topic| {
        topic.topic_name.as_str() == TOPIC
            && matches!(topic.partitions.as_slice(), [partition] if partition.partition_index == 0)
    };
    matches!(request.topics.as_slice(), [topic] if right(topic))
}

/// There is one quorum only.
fn unknown(request: &DescribeQuorumRequest) -> DescribeQuorumResponse {
    let code = ErrorCode::UnknownTopicOrPartition.code();
    let partition = |asked: &Asked| {
        PartitionData::default()
            .with_partition_index(asked.partition_index)
            .with_error_code(code)
            .with_leader_id((-1).into())
            .with_leader_epoch(-1)
            .with_high_watermark(-1)
    };
    let topic = |topic: &Topic| {
        TopicData::default()
            .with_topic_name(topic.topic_name.clone())
            .with_partitions(topic.partitions.iter().map(partition).collect())
    };
    DescribeQuorumResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
