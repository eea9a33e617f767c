//! Serves Fetch of the metadata log to brokers; a fetch at the end of the log waits for more.

use bytes::Bytes;
use highwater_log::{Command, Done};
use highwater_node_core::quorum::{FetchAnswer, MetadataFetch};
use highwater_node_core::types::{BrokerId, LeaderEpoch, Offset, Time};
use highwater_wire::ErrorCode;
use highwater_wire::StrBytes;
use highwater_wire::messages::fetch_request::{FetchPartition, FetchTopic};
use highwater_wire::messages::fetch_response::{
    EpochEndOffset, FetchableTopicResponse, LeaderIdAndEpoch, PartitionData,
};
use highwater_wire::messages::{FetchRequest, FetchResponse, TopicName};
use uuid::Uuid;

use super::log;
use crate::effect::ConnId;
use crate::event::Event;
use crate::metadata_log::{LOG, TOPIC, TOPIC_ID};
use crate::node::Node;
use crate::reply::ReplyToken;
use crate::timers::TimerId;

/// Topics are named by id from here on.
const TOPIC_IDS_SINCE: i16 = 13;
/// Epochs are compared and divergence is answered from here on.
const EPOCHS_SINCE: i16 = 12;
/// The replica's id stands in the replica state from here on.
const REPLICA_STATE_SINCE: i16 = 15;

/// The most bytes of an answer, as in Kafka; a larger first batch comes whole.
const MAX_BYTES: usize = 8 << 20;

/// Fetches that wait for the log to move.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<Wait>);

#[derive(Debug)]
struct Wait {
    asked: Asked,
    timer: TimerId,
}

/// One fetch of the metadata log.
#[derive(Debug)]
struct Asked {
    fetch: MetadataFetch,
    max_bytes: usize,
    /// Until when it waits for the log to move.
    deadline: Time,
    reply: ReplyToken,
}

/// Serves a Fetch that came in by a controller's listener.
pub(crate) fn serve(node: &mut Node, request: FetchRequest, reply: ReplyToken) {
    let other = |id: &StrBytes| id.as_str() != node.config.cluster_id;
    if request.cluster_id.as_ref().is_some_and(other) {
        let code = ErrorCode::InconsistentClusterId.code();
        return node.kernel.reply(reply, FetchResponse::default().with_error_code(code));
    }
    match metadata_partition(&request, reply.version()) {
        Some(partition) => {
            let asked = asked(node.kernel.now(), &request, partition, reply);
            attempt(node, asked);
        }
        None => {
            let response = unknown(&request, reply.version());
            node.kernel.reply(reply, response);
        }
    }
}

/// Looks at every waiting fetch again: the log has moved.
pub(super) fn retry(node: &mut Node) {
    for wait in std::mem::take(&mut node.controller_mut().fetches.0) {
        node.kernel.cancel(wait.timer);
        attempt(node, wait.asked);
    }
}

fn asked(
    now: Time,
    request: &FetchRequest,
    partition: &FetchPartition,
    reply: ReplyToken,
) -> Asked {
    let version = reply.version();
    let replica = match version {
        REPLICA_STATE_SINCE.. => request.replica_state.replica_id.0,
        _ => request.replica_id.0,
    };
    let epoch = |epoch: i32| (version >= EPOCHS_SINCE && epoch >= 0).then_some(LeaderEpoch(epoch));
    let fetch = MetadataFetch {
        replica: BrokerId(replica),
        offset: Offset(partition.fetch_offset),
        last_epoch: epoch(partition.last_fetched_epoch).filter(|_| partition.fetch_offset > 0),
        current_epoch: epoch(partition.current_leader_epoch),
    };
    let max_bytes = partition.partition_max_bytes.clamp(0, request.max_bytes.max(0)) as usize;
    let max_bytes = max_bytes.min(MAX_BYTES);
    let deadline = now.plus_ms(request.max_wait_ms.max(0) as u64);
    Asked { fetch, max_bytes, deadline, reply }
}

fn attempt(node: &mut Node, asked: Asked) {
    let now = node.kernel.now();
    let mut out = Vec::new();
    let answer = node.controller_mut().quorum.fetch(now, asked.fetch, &mut out);
    log::obey(node, out);
    match answer {
        FetchAnswer::Read { end, high_watermark } if end > asked.fetch.offset => {
            read(node, asked, end, high_watermark);
        }
        FetchAnswer::Read { .. } if now < asked.deadline => wait(node, asked),
        answer => respond(node, asked.reply, answer, None),
    }
}

/// Nobody waits for a connection that is gone.
pub(crate) fn forget(node: &mut Node, conn: ConnId) {
    let Some(role) = &mut node.controller else { return };
    role.fetches.0.retain(|wait| wait.asked.reply.conn != conn);
}

/// Waits until the log moves or the caller's patience ends.
fn wait(node: &mut Node, asked: Asked) {
    let serial = asked.reply.serial;
    let timer = node.kernel.at(asked.deadline, move |node| {
        let waiting = &mut node.controller_mut().fetches.0;
        if let Some(at) = waiting.iter().position(|wait| wait.asked.reply.serial == serial) {
            let wait = waiting.remove(at);
            attempt(node, wait.asked);
        }
    });
    node.controller_mut().fetches.0.push(Wait { asked, timer });
}

fn read(node: &mut Node, asked: Asked, end: Offset, high_watermark: Offset) {
    let command = Command::Read {
        log: LOG,
        from: asked.fetch.offset.0,
        upto: end.0,
        max_bytes: asked.max_bytes,
        at_least_one: true,
    };
    let answer = FetchAnswer::Read { end, high_watermark };
    node.kernel.disk(command, move |node, done| match done {
        Ok(Done::Records { batches }) => respond(node, asked.reply, answer, Some(batches)),
        Ok(other) => unreachable!("Read gives Records, not {other:?}"),
        Err(error) => {
            let text = format!("the metadata log cannot be read: {error}");
            node.kernel.event(Event::Warning { text });
            node.kernel.close(asked.reply);
        }
    });
}

fn respond(node: &mut Node, reply: ReplyToken, answer: FetchAnswer, records: Option<Bytes>) {
    let version = reply.version();
    let state = node.controller().quorum.state();
    let mut data = PartitionData::default()
        .with_last_stable_offset(-1)
        .with_log_start_offset(0)
        .with_records(Some(records.unwrap_or_default()));
    match answer {
        FetchAnswer::Read { high_watermark, .. } => data.high_watermark = high_watermark.0,
        FetchAnswer::Diverging(theirs) => {
            data.high_watermark = -1;
            data.diverging_epoch =
                EpochEndOffset::default().with_epoch(theirs.epoch.0).with_end_offset(theirs.end.0);
        }
        FetchAnswer::Refused(code) => {
            data.high_watermark = -1;
            data.error_code = code.code();
        }
    }
    if version >= EPOCHS_SINCE {
        data.current_leader = LeaderIdAndEpoch::default()
            .with_leader_id(state.leader.map_or(-1, |id| id.0).into())
            .with_leader_epoch(state.epoch.0);
    }
    let response = one_topic(version).with_partitions(vec![data]);
    node.kernel.reply(reply, FetchResponse::default().with_responses(vec![response]));
}

fn one_topic(version: i16) -> FetchableTopicResponse {
    match version {
        TOPIC_IDS_SINCE.. => {
            FetchableTopicResponse::default().with_topic_id(Uuid::from_u128(TOPIC_ID))
        }
        _ => FetchableTopicResponse::default()
            .with_topic(TopicName(StrBytes::from_static_str(TOPIC))),
    }
}

/// The metadata partition's entry, when the request is about that one only.
fn metadata_partition(request: &FetchRequest, version: i16) -> Option<&FetchPartition> {
    let is_metadata = |topic: &FetchTopic| match version {
        TOPIC_IDS_SINCE.. => topic.topic_id.as_u128() == TOPIC_ID,
        _ => topic.topic.as_str() == TOPIC,
    };
    match request.topics.as_slice() {
        [topic] if is_metadata(topic) => match topic.partitions.as_slice() {
            [partition] if partition.partition == 0 => Some(partition),
            _ => None,
        },
        _ => None,
    }
}

/// A controller has no other partitions.
fn unknown(request: &FetchRequest, version: i16) -> FetchResponse {
    let code = match version {
        TOPIC_IDS_SINCE.. => ErrorCode::UnknownTopicId,
        _ => ErrorCode::UnknownTopicOrPartition,
    };
    let topic = |topic: &FetchTopic| {
        let partition = |asked: &FetchPartition| {
            PartitionData::default()
                .with_partition_index(asked.partition)
                .with_error_code(code.code())
                .with_high_watermark(-1)
                .with_records(Some(Bytes::new()))
        };
        FetchableTopicResponse::default()
            .with_topic(topic.topic.clone())
            .with_topic_id(topic.topic_id)
            .with_partitions(topic.partitions.iter().map(partition).collect())
    };
    FetchResponse::default().with_responses(request.topics.iter().map(topic).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::token;

    #[test]
    fn no_answer_is_as_long_as_a_caller_may_ask_for() {
        let huge = FetchPartition::default().with_partition_max_bytes(i32::MAX);
        let request = FetchRequest::default().with_max_bytes(i32::MAX);
        let asked = asked(Time(0), &request, &huge, token(2, highwater_wire::ApiKey::Fetch, 12));
        assert_eq!(asked.max_bytes, MAX_BYTES);
    }
}
