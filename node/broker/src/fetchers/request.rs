//! What a follower asks its leader: a Fetch of its partitions there, as far as the leader does not
//! remember them.

use std::collections::BTreeMap;

use highwater_node_core::fetcher::{Asked, Request};
use highwater_node_core::types::{BrokerId, PartitionId, TopicId};
use highwater_wire::messages::FetchRequest;
use highwater_wire::messages::fetch_request::{
    FetchPartition, FetchTopic, ForgottenTopic, ReplicaState,
};
use uuid::Uuid;

use super::session::Said;
use super::{answer, channel};
use crate::node::Node;

/// The last fetched epoch of an empty log.
const NO_EPOCH: i32 = -1;

pub(super) fn send(node: &mut Node, leader: BrokerId, next: Request, said: Said) {
    let request = request(node, said);
    let timeout_ms = node.config.replication.socket_timeout_ms;
    node.kernel.call(channel(leader, next.lane), request, timeout_ms, move |node, response| {
        answer::take(node, leader, next, response);
    });
}

fn request(node: &Node, said: Said) -> FetchRequest {
    let config = &node.config.replication;
    let mut topics: BTreeMap<TopicId, Vec<FetchPartition>> = BTreeMap::new();
    for one in &said.named {
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
        .with_session_id(said.id)
        .with_session_epoch(said.epoch)
        .with_topics(topics.into_iter().map(topic).collect())
        .with_forgotten_topics_data(forgotten(said.forgotten))
}

fn forgotten(all: Vec<PartitionId>) -> Vec<ForgottenTopic> {
    let mut topics: BTreeMap<TopicId, Vec<i32>> = BTreeMap::new();
    for one in all {
        topics.entry(one.topic).or_default().push(one.index);
    }
    let topic = |(id, partitions): (TopicId, Vec<i32>)| {
        ForgottenTopic::default().with_topic_id(Uuid::from_u128(id.0)).with_partitions(partitions)
    };
    topics.into_iter().map(topic).collect()
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
