//! What a follower asks its leader: a Fetch of all its partitions there.

use std::collections::BTreeMap;

use highwater_node_core::fetcher::{Asked, Request};
use highwater_node_core::types::{BrokerId, TopicId};
use highwater_wire::messages::FetchRequest;
use highwater_wire::messages::fetch_request::{FetchPartition, FetchTopic, ReplicaState};
use uuid::Uuid;

use super::{answer, channel};
use crate::node::Node;

/// No fetch session: each request names all partitions.
const NO_SESSION_EPOCH: i32 = -1;
/// The last fetched epoch of an empty log.
const NO_EPOCH: i32 = -1;

pub(super) fn send(node: &mut Node, leader: BrokerId, next: Request) {
    let request = request(node, &next.asked);
    let timeout_ms = node.config.replication.socket_timeout_ms;
    node.kernel.call(channel(leader, next.lane), request, timeout_ms, move |node, response| {
        answer::take(node, leader, next, response);
    });
}

fn request(node: &Node, asked: &[Asked]) -> FetchRequest {
    let config = &node.config.replication;
    let mut topics: BTreeMap<TopicId, Vec<FetchPartition>> = BTreeMap::new();
    for one in asked {
        topics.entry(one.partition.topic).or_default().push(partition(one, config.fetch_max_bytes));
    }
    let topic = |(id, partitions): (TopicId, Vec<FetchPartition>)| {
        FetchTopic::default().with_topic_id(Uuid::from_u128(id.0)).with_partitions(partitions)
    };
    let state = ReplicaState::default()
        .with_replica_id(node.config.node_id.0.into())
        .with_replica_epoch(node.broker().lifecycle.epoch().0);
    FetchRequest::default()
        .with_replica_state(state)
        .with_max_wait_ms(config.fetch_wait_max_ms)
        .with_min_bytes(config.fetch_min_bytes)
        .with_max_bytes(config.fetch_response_max_bytes)
        .with_session_epoch(NO_SESSION_EPOCH)
        .with_topics(topics.into_iter().map(topic).collect())
}

fn partition(asked: &Asked, max_bytes: i32) -> FetchPartition {
    let position = &asked.position;
    FetchPartition::default()
        .with_partition(asked.partition.index)
        .with_current_leader_epoch(position.leader_epoch.0)
        .with_fetch_offset(position.offset.0)
        .with_last_fetched_epoch(position.last_fetched_epoch.map_or(NO_EPOCH, |epoch| epoch.0))
        .with_log_start_offset(position.log_start.0)
        .with_partition_max_bytes(max_bytes)
}
