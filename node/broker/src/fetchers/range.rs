//! A position that is out of the leader's range: ask what the range is before anything is cut.

use highwater_node_core::fetcher::{Asked, Lane};
use highwater_node_core::rule::truncation::LeaderRange;
use highwater_node_core::types::{BrokerId, Offset};
use highwater_wire::StrBytes;
use highwater_wire::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use highwater_wire::messages::{ListOffsetsRequest, ListOffsetsResponse, TopicName};

use super::answer::with_fetcher;
use super::{channel, fetch};
use crate::node::Node;

/// The timestamp that asks for the log end.
const LATEST: i64 = -1;
/// The timestamp that asks for the log start.
const EARLIEST: i64 = -2;

/// Asks for log end and log start, one after the other.
pub(super) fn ask(node: &mut Node, leader: BrokerId, asked: Asked) {
    ask_one(node, leader, asked, LATEST, move |node, end| {
        ask_one(node, leader, asked, EARLIEST, move |node, start| {
            let range = start.zip(end).map(|(start, end)| LeaderRange { start, end });
            with_fetcher(node, leader, &asked, |fetcher, env, replica, out| {
                fetcher.range_answered(env, &asked, replica, range, out);
            });
            fetch(node, leader);
        });
    });
}

fn ask_one(
    node: &mut Node,
    leader: BrokerId,
    asked: Asked,
    timestamp: i64,
    then: impl FnOnce(&mut Node, Option<Offset>) + Send + 'static,
) {
    let Some(hosted) = node.broker().replicas.hosted.get(asked.partition) else { return };
    let name = TopicName(StrBytes::from_string(hosted.topic.clone()));
    let partition = ListOffsetsPartition::default()
        .with_partition_index(asked.partition.index)
        .with_current_leader_epoch(asked.position.leader_epoch.0)
        .with_timestamp(timestamp);
    let topic = ListOffsetsTopic::default().with_name(name).with_partitions(vec![partition]);
    let request = ListOffsetsRequest::default()
        .with_replica_id(node.config.node_id.0.into())
        .with_topics(vec![topic]);
    let timeout_ms = node.config.replication.socket_timeout_ms;
    node.kernel.call(channel(leader, Lane(0)), request, timeout_ms, move |node, answer| {
        then(node, answer.ok().and_then(|response| offset(&response)));
    });
}

fn offset(response: &ListOffsetsResponse) -> Option<Offset> {
    let partition = response.topics.first()?.partitions.first()?;
    (partition.error_code == 0).then_some(Offset(partition.offset))
}
