//! The answer to a fetch: reads what may be read, and says how each partition stands.

use bytes::Bytes;
use highwater_node_core::replica::{FetchAnswer, LogBounds};
use highwater_node_core::types::Offset;
use highwater_wire::messages::FetchResponse;
use highwater_wire::messages::TopicName;
use highwater_wire::messages::fetch_response::{
    EpochEndOffset, FetchableTopicResponse, LeaderIdAndEpoch, NodeEndpoint, PartitionData,
};
use highwater_wire::{ErrorCode, StrBytes};
use uuid::Uuid;

use super::Found;
use super::plan::{Part, Plan};
use super::session::{Key, Told};
use crate::leader_hint::{self, LeaderHint};
use crate::node::Node;
use crate::replicas::TopicRef;
use crate::replicas::read::{ReadPart, read};

/// What stands where there is no offset to tell.
const NO_OFFSET: i64 = -1;
/// Nobody else is to be read from.
const NO_REPLICA: i32 = -1;
/// Answers name the leader from here on (KIP-951: with its address from 16 on).
const LEADER_SINCE: i16 = 12;
/// Answers say where the named leaders are from here on.
const ENDPOINTS_SINCE: i16 = 16;

/// Reads what was found, then answers.
pub(super) fn respond(node: &mut Node, plan: Plan, found: Vec<Found>) {
    let parts: Vec<ReadPart> =
        plan.parts.iter().zip(&found).filter_map(|(part, found)| readable(part, found)).collect();
    let max_bytes = plan.max_bytes;
    read(node, &parts, max_bytes, |node, records| {
        let response = response(node, &plan, found, records);
        node.kernel.reply(plan.reply, response);
    });
}

/// What to read of one part: something for each that may be read, be it nothing.
fn readable(part: &Part, found: &Found) -> Option<ReadPart> {
    let Ok(FetchAnswer::Readable { upto, bytes, .. }) = found else { return None };
    Some(ReadPart {
        partition: part.id.ok()?,
        from: part.query.offset,
        upto: *upto,
        available_bytes: *bytes,
        max_bytes: part.max_bytes,
    })
}

fn response(
    node: &mut Node,
    plan: &Plan,
    found: Vec<Found>,
    records: Vec<Option<Bytes>>,
) -> FetchResponse {
    let mut records = records.into_iter();
    let mut topics: Vec<FetchableTopicResponse> = Vec::new();
    let mut leaders: Vec<LeaderHint> = Vec::new();
    for (part, found) in plan.parts.iter().zip(found) {
        let data = match found {
            Ok(FetchAnswer::Readable { bounds, .. }) => match records.next().flatten() {
                Some(records) => told(bounds).with_records(Some(records)),
                None => failed(ErrorCode::NotLeaderOrFollower),
            },
            Ok(FetchAnswer::Diverging { end, bounds }) => told(bounds).with_diverging_epoch(
                EpochEndOffset::default().with_epoch(end.epoch.0).with_end_offset(end.end.0),
            ),
            Err(error) => failed(error),
        };
        let data = with_leader(node, plan, part, data, &mut leaders);
        if is_news(node, plan, part, &data) {
            push(&mut topics, &part.key, finish(plan, part, data));
        }
    }
    let response = FetchResponse::default().with_session_id(plan.session).with_responses(topics);
    match plan.reply.version() >= ENDPOINTS_SINCE {
        true => response.with_node_endpoints(endpoints(&leaders)),
        false => response,
    }
}

fn told(bounds: LogBounds) -> PartitionData {
    let LogBounds { log_start, last_stable, high_watermark, .. } = bounds;
    let number = |offset: Offset| offset.0;
    PartitionData::default()
        .with_high_watermark(number(high_watermark))
        .with_last_stable_offset(number(last_stable))
        .with_log_start_offset(number(log_start))
        .with_records(Some(Bytes::new()))
}

fn failed(error: ErrorCode) -> PartitionData {
    PartitionData::default()
        .with_error_code(error.code())
        .with_high_watermark(NO_OFFSET)
        .with_last_stable_offset(NO_OFFSET)
        .with_log_start_offset(NO_OFFSET)
        .with_records(Some(Bytes::new()))
}

/// Tells a client that came to the wrong broker, or with the wrong epoch, who leads (KIP-951).
fn with_leader(
    node: &Node,
    plan: &Plan,
    part: &Part,
    data: PartitionData,
    leaders: &mut Vec<LeaderHint>,
) -> PartitionData {
    let (reply, Ok(id)) = (&plan.reply, part.id) else { return data };
    if reply.version() < LEADER_SINCE || !leader_hint::is_wanted(data.error_code) {
        return data;
    }
    let Some(hint) = leader_hint::find(node, id, reply.listener_name()) else { return data };
    let leader = LeaderIdAndEpoch::default()
        .with_leader_id(hint.leader.0.into())
        .with_leader_epoch(hint.leader_epoch.0);
    leaders.push(hint);
    data.with_current_leader(leader)
}

fn endpoints(leaders: &[LeaderHint]) -> Vec<NodeEndpoint> {
    let endpoint = |hint: &LeaderHint| {
        NodeEndpoint::default()
            .with_node_id(hint.leader.0.into())
            .with_host(StrBytes::from_string(hint.host.clone()))
            .with_port(i32::from(hint.port))
            .with_rack(hint.rack.clone().map(StrBytes::from_string))
    };
    leader_hint::distinct(leaders).map(endpoint).collect()
}

/// True when the client is to be told of this partition.
fn is_news(node: &mut Node, plan: &Plan, part: &Part, data: &PartitionData) -> bool {
    let told = (data.error_code == 0 && data.diverging_epoch.end_offset < 0)
        .then_some(Told { high_watermark: data.high_watermark, log_start: data.log_start_offset });
    let has_records = data.records.as_ref().is_some_and(|records| !records.is_empty());
    let Some(session) = node.broker_mut().fetch_sessions.get_mut(plan.session) else {
        return true;
    };
    session.is_news(&part.key, told, has_records) || !plan.incremental
}

fn finish(plan: &Plan, part: &Part, data: PartitionData) -> PartitionData {
    // there are no transactions to abort as yet, so the list of a read_committed answer is empty
    let aborted = plan.read_committed.then(Vec::new);
    data.with_partition_index(part.key.index)
        .with_aborted_transactions(aborted)
        .with_preferred_read_replica(NO_REPLICA.into())
}

/// Adds a partition to the topic that was named last, or begins a new one.
fn push(topics: &mut Vec<FetchableTopicResponse>, key: &Key, data: PartitionData) {
    let fresh = match &key.topic {
        TopicRef::Name(name) => FetchableTopicResponse::default()
            .with_topic(TopicName(StrBytes::from_string(name.clone()))),
        TopicRef::Id(id) => FetchableTopicResponse::default().with_topic_id(Uuid::from_u128(id.0)),
    };
    let same = |last: &FetchableTopicResponse| {
        last.topic == fresh.topic && last.topic_id == fresh.topic_id
    };
    if !topics.last().is_some_and(same) {
        topics.push(fresh);
    }
    if let Some(topic) = topics.last_mut() {
        topic.partitions.push(data);
    }
}
