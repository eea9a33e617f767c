//! DescribeProducers: what a partition's leader remembers of its producers (rule 45).

use std::collections::BTreeSet;

use highwater_node_core::replica::{ProducerEntry, Replica};
use highwater_node_core::types::ProducerId;
use highwater_wire::ErrorCode;
use highwater_wire::messages::describe_producers_request::TopicRequest;
use highwater_wire::messages::describe_producers_response::{
    PartitionResponse, ProducerState, TopicResponse,
};
use highwater_wire::messages::{DescribeProducersRequest, DescribeProducersResponse};

use crate::node::Node;
use crate::replicas::{TopicRef, ask, error_code, resolve};
use crate::reply::ReplyToken;

entry!(DescribeProducers, Broker, handle);

/// No coordinator has written a marker, and no transaction is open.
const NONE: i32 = -1;

fn handle(node: &mut Node, request: DescribeProducersRequest, reply: ReplyToken) {
    let mut told = BTreeSet::new();
    let topics =
        request.topics.iter().map(|topic| describe_topic(node, topic, &mut told)).collect();
    let response = DescribeProducersResponse::default().with_topics(topics);
    node.kernel.reply(reply, response);
}

/// The partitions that were not told before in this answer.
fn describe_topic<'a>(
    node: &Node,
    asked: &'a TopicRequest,
    told: &mut BTreeSet<(&'a str, i32)>,
) -> TopicResponse {
    let topic = TopicRef::Name(asked.name.to_string());
    let new = asked.partition_indexes.iter().filter(|index| told.insert((&asked.name, **index)));
    let partitions = new.map(|&index| {
        let row = PartitionResponse::default().with_partition_index(index);
        match producers(node, &topic, index) {
            Ok(producers) => row.with_active_producers(producers),
            Err(error) => row.with_error_code(error.code()),
        }
    });
    let partitions = partitions.collect();
    TopicResponse::default().with_name(asked.name.clone()).with_partitions(partitions)
}

fn producers(node: &Node, topic: &TopicRef, index: i32) -> Result<Vec<ProducerState>, ErrorCode> {
    let id = resolve(node, topic, index)?;
    ask(node, id, |replica, env| {
        replica.check_leader(env, None)?;
        Ok(states(replica))
    })
    .ok_or(ErrorCode::NotLeaderOrFollower)?
    .map_err(error_code)
}

fn states(replica: &Replica) -> Vec<ProducerState> {
    replica.producers().iter().map(|(id, entry)| state(*id, entry)).collect()
}

fn state(id: ProducerId, entry: &ProducerEntry) -> ProducerState {
    ProducerState::default()
        .with_producer_id(id.0.into())
        .with_producer_epoch(i32::from(entry.epoch.0))
        .with_last_sequence(entry.batches.back().map_or(NONE, |batch| batch.last_sequence))
        .with_last_timestamp(entry.last_timestamp_ms)
        .with_coordinator_epoch(NONE)
        .with_current_txn_start_offset(i64::from(NONE))
}
