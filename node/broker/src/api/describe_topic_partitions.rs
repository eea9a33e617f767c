//! DescribeTopicPartitions: topics in order of name, page by page (KIP-966).

use std::collections::BTreeSet;

use highwater_node_core::controller::check_topic_name;
use highwater_node_core::metadata::{Image, Partition};
use highwater_wire::messages::describe_topic_partitions_request::TopicRequest;
use highwater_wire::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use highwater_wire::messages::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};
use highwater_wire::{ErrorCode, StrBytes};
use uuid::Uuid;

use crate::broker::cluster_view::{ClusterView, TOPIC_OPERATIONS, is_internal, wire_ids};
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(DescribeTopicPartitions, Broker, handle);

fn handle(node: &mut Node, request: DescribeTopicPartitionsRequest, reply: ReplyToken) {
    if request.cursor.as_ref().is_some_and(|cursor| cursor.partition_index < 0) {
        return node.kernel.reply(reply, refuse(&request));
    }
    let image = node.broker().image();
    let limit = node.config.max_request_partition_size_limit;
    let limit = request.response_partition_limit.min(limit).max(1) as usize;
    let view = ClusterView::new(image, reply.listener_name());
    let mut page = Page { image, view, left: limit, response: Default::default() };
    let start = request.cursor.as_ref();
    let first = start.map_or("", |cursor| cursor.topic_name.as_str());
    let all = request.topics.is_empty();
    let asked: BTreeSet<&str> = match all {
        true => image.topic_ids.keys().map(String::as_str).collect(),
        false => request.topics.iter().map(|topic| topic.name.as_str()).collect(),
    };
    for name in asked.into_iter().filter(|name| *name >= first) {
        let from = start.filter(|_| name == first).map_or(0, |cursor| cursor.partition_index);
        if !page.add_topic(name, from, all) {
            break;
        }
    }
    let response = page.response;
    node.kernel.reply(reply, response);
}

/// A cursor that points nowhere.
fn refuse(request: &DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse {
    let refused = |topic: &TopicRequest| {
        DescribeTopicPartitionsResponseTopic::default()
            .with_error_code(ErrorCode::InvalidRequest.code())
            .with_name(Some(topic.name.clone()))
    };
    DescribeTopicPartitionsResponse::default()
        .with_topics(request.topics.iter().map(refused).collect())
}

/// One page in the making.
struct Page<'a> {
    image: &'a Image,
    view: ClusterView<'a>,
    left: usize,
    response: DescribeTopicPartitionsResponse,
}

impl Page<'_> {
    /// Adds a topic from this partition on; false when the page is full and its cursor is set.
    fn add_topic(&mut self, name: &str, from: i32, skip_absent: bool) -> bool {
        let Some((id, topic)) = self.image.topic_named(name) else {
            if !skip_absent {
                self.response.topics.push(absent(name));
            }
            return true;
        };
        if self.left == 0 {
            return self.end_at(name, from);
        }
        let mut rest = topic.partitions.range(from..);
        let page = rest.by_ref().take(self.left);
        let view = self.view;
        let partitions: Vec<_> =
            page.map(|(&index, partition)| describe(view, index, partition)).collect();
        self.left -= partitions.len();
        self.response.topics.push(
            DescribeTopicPartitionsResponseTopic::default()
                .with_name(Some(StrBytes::from_string(name.to_owned()).into()))
                .with_topic_id(Uuid::from_u128(id.0))
                .with_is_internal(is_internal(name))
                .with_partitions(partitions)
                .with_topic_authorized_operations(TOPIC_OPERATIONS),
        );
        match rest.next() {
            Some((&next, _)) => self.end_at(name, next),
            None => true,
        }
    }

    fn end_at(&mut self, name: &str, partition: i32) -> bool {
        let cursor = Cursor::default()
            .with_topic_name(StrBytes::from_string(name.to_owned()).into())
            .with_partition_index(partition);
        self.response.next_cursor = Some(cursor);
        false
    }
}

fn absent(name: &str) -> DescribeTopicPartitionsResponseTopic {
    let error = match check_topic_name(name) {
        Ok(()) => ErrorCode::UnknownTopicOrPartition,
        Err(_) => ErrorCode::InvalidTopicException,
    };
    DescribeTopicPartitionsResponseTopic::default()
        .with_error_code(error.code())
        .with_name(Some(StrBytes::from_string(name.to_owned()).into()))
        .with_is_internal(is_internal(name))
}

fn describe(
    view: ClusterView<'_>,
    index: i32,
    partition: &Partition,
) -> DescribeTopicPartitionsResponsePartition {
    let state = &partition.state;
    let (leader, error) = view.leader(partition);
    DescribeTopicPartitionsResponsePartition::default()
        .with_error_code(error.code())
        .with_partition_index(index)
        .with_leader_id(leader.0.into())
        .with_leader_epoch(state.leader_epoch.0)
        .with_replica_nodes(wire_ids(&state.replicas))
        .with_isr_nodes(wire_ids(&state.isr))
        .with_eligible_leader_replicas(Some(wire_ids(&partition.elr)))
        .with_last_known_elr(Some(wire_ids(&partition.last_known_elr)))
        .with_offline_replicas(view.offline(partition))
}
