//! OffsetForLeaderEpoch: where an epoch's records end in the leader's log (rules 5, 9, 12).

use highwater_node_core::types::LeaderEpoch;
use highwater_wire::ErrorCode;
use highwater_wire::messages::offset_for_leader_epoch_request::{
    OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use highwater_wire::messages::offset_for_leader_epoch_response::{
    EpochEndOffset, OffsetForLeaderTopicResult,
};
use highwater_wire::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

use crate::node::Node;
use crate::replicas::{TopicRef, ask, error_code, resolve};
use crate::reply::ReplyToken;

entry!(OffsetForLeaderEpoch, Broker, handle);

/// An epoch or offset that is not known.
const UNKNOWN: i32 = -1;

fn handle(node: &mut Node, request: OffsetForLeaderEpochRequest, reply: ReplyToken) {
    let topics = request.topics.into_iter().map(|topic| answer_topic(node, topic)).collect();
    let response = OffsetForLeaderEpochResponse::default().with_topics(topics);
    node.kernel.reply(reply, response);
}

fn answer_topic(node: &Node, asked: OffsetForLeaderTopic) -> OffsetForLeaderTopicResult {
    let topic = TopicRef::Name(asked.topic.to_string());
    let partitions = asked.partitions.iter().map(|one| match end_of(node, &topic, one) {
        Ok(row) => row.with_partition(one.partition),
        Err(error) => unknown().with_partition(one.partition).with_error_code(error.code()),
    });
    let partitions = partitions.collect();
    OffsetForLeaderTopicResult::default().with_topic(asked.topic).with_partitions(partitions)
}

fn end_of(
    node: &Node,
    topic: &TopicRef,
    asked: &OffsetForLeaderPartition,
) -> Result<EpochEndOffset, ErrorCode> {
    let id = resolve(node, topic, asked.partition)?;
    let current = asked.current_leader_epoch;
    let current = (current >= 0).then_some(LeaderEpoch(current));
    let epoch = LeaderEpoch(asked.leader_epoch);
    let end = ask(node, id, |replica, env| replica.epoch_end(env, current, epoch))
        .ok_or(ErrorCode::NotLeaderOrFollower)?
        .map_err(error_code)?;
    Ok(end.map_or_else(unknown, |end| {
        EpochEndOffset::default().with_leader_epoch(end.epoch.0).with_end_offset(end.end.0)
    }))
}

fn unknown() -> EpochEndOffset {
    EpochEndOffset::default().with_leader_epoch(UNKNOWN).with_end_offset(i64::from(UNKNOWN))
}
