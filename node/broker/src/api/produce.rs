//! Produce: batches into partitions, answered as `acks` wants it (rules 36, 37, 40).

use highwater_log::batch::Refusal;
use highwater_node_core::replica::{Acks, ReplicaError};
use highwater_node_core::types::{PartitionId, TopicId};
use highwater_node_core::waiting_room::{Outcome, PendingWrite, Wait};
use highwater_wire::messages::produce_request::{PartitionProduceData, TopicProduceData};
use highwater_wire::messages::produce_response::{
    BatchIndexAndErrorMessage, LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse,
    TopicProduceResponse,
};
use highwater_wire::messages::{ProduceRequest, ProduceResponse, TopicName};
use highwater_wire::{ErrorCode, StrBytes};

use crate::leader_hint::{self, LeaderHint};
use crate::node::Node;
use crate::replicas::produce::{NotPlaced, Placed, produce};
use crate::replicas::{TopicRef, error_code, resolve, waits};
use crate::reply::ReplyToken;

entry!(Produce, Broker, handle);

/// Topics are named by id from here on.
const TOPIC_IDS_SINCE: i16 = 13;
/// zstd may be carried from here on (KIP-110).
const ZSTD_SINCE: i16 = 7;
/// Answers say which record was refused and why from here on.
const MESSAGES_SINCE: i16 = 8;
/// Answers name the leader from here on (KIP-951).
const LEADER_SINCE: i16 = 10;
/// What stands where there is no offset or time to tell.
const NONE: i64 = -1;

/// One partition of the request: how it is named in the answer, and what became of it.
struct Row {
    topic: usize,
    index: i32,
    id: Option<PartitionId>,
    result: Result<Placed, Failure>,
}

/// Why a partition's batch is refused.
#[derive(Debug)]
struct Failure {
    code: ErrorCode,
    message: Option<String>,
    record: Option<usize>,
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Failure {
        Failure { code, message: None, record: None }
    }
}

fn handle(node: &mut Node, mut request: ProduceRequest, reply: ReplyToken) {
    let acks = acks(request.acks);
    let topics = std::mem::take(&mut request.topic_data);
    let mut names = Vec::with_capacity(topics.len());
    let mut rows = Vec::new();
    for TopicProduceData { name, topic_id, partition_data, .. } in topics {
        let topic = match reply.version() {
            TOPIC_IDS_SINCE.. => TopicRef::Id(TopicId(topic_id.as_u128())),
            _ => TopicRef::Name(name.to_string()),
        };
        for data in partition_data {
            rows.push(place(node, &reply, acks, (names.len(), &topic), data));
        }
        // A copy: the name's bytes would keep the whole request in memory while it waits.
        let name = TopicName(StrBytes::from_string(name.to_string()));
        names.push(TopicProduceResponse::default().with_name(name).with_topic_id(topic_id));
    }
    match acks {
        Some(Acks::None) => end_silently(node, rows, reply),
        _ => wait(node, request.timeout_ms, acks.unwrap_or(Acks::Leader), names, rows, reply),
    }
}

fn acks(acks: i16) -> Option<Acks> {
    match acks {
        0 => Some(Acks::None),
        1 => Some(Acks::Leader),
        -1 => Some(Acks::All),
        _ => None,
    }
}

fn place(
    node: &mut Node,
    reply: &ReplyToken,
    acks: Option<Acks>,
    (topic, name): (usize, &TopicRef),
    data: PartitionProduceData,
) -> Row {
    let index = data.index;
    let id = resolve(node, name, index);
    let zstd_allowed = reply.version() >= ZSTD_SINCE;
    let result = match (id, acks) {
        (_, None) => Err(ErrorCode::InvalidRequiredAcks.into()),
        (Err(error), _) => Err(error.into()),
        (Ok(id), Some(acks)) => {
            let records = data.records.unwrap_or_default();
            produce(node, id, records, acks, zstd_allowed).map_err(failure)
        }
    };
    Row { topic, index, id: id.ok(), result }
}

fn failure(error: NotPlaced) -> Failure {
    match error {
        NotPlaced::Replica(error) => error_code(error).into(),
        NotPlaced::Transactional => ErrorCode::InvalidTxnState.into(),
        NotPlaced::Records(refusal) => Failure {
            code: refusal_code(&refusal),
            record: match &refusal {
                Refusal::InvalidRecord { record, .. } => *record,
                Refusal::InvalidTimestamp { record, .. }
                | Refusal::AppendTimeClaimed { record } => Some(*record),
                _ => None,
            },
            message: Some(refusal.to_string()),
        },
    }
}

fn refusal_code(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::InvalidRecord { .. } => ErrorCode::InvalidRecord,
        Refusal::CorruptMessage(_) => ErrorCode::CorruptMessage,
        Refusal::Unreadable(_) => ErrorCode::UnknownServerError,
        Refusal::MessageTooLarge { .. } => ErrorCode::MessageTooLarge,
        Refusal::RecordListTooLarge { .. } => ErrorCode::RecordListTooLarge,
        Refusal::InvalidTimestamp { .. } | Refusal::AppendTimeClaimed { .. } => {
            ErrorCode::InvalidTimestamp
        }
        Refusal::UnsupportedCompression => ErrorCode::UnsupportedCompressionType,
    }
}

/// acks=0 has no answer; an error can only be told by closing the connection. The next request is
/// read once the disk has this one, or a fast client would fill the memory of a slow disk's broker.
fn end_silently(node: &mut Node, rows: Vec<Row>, reply: ReplyToken) {
    if rows.iter().any(|row| row.result.is_err()) {
        return node.kernel.close(reply);
    }
    let writes = Wait::Produce(pending(&rows, Acks::Leader));
    waits::enter(node, reply.conn, None, writes, |node, outcome| match outcome {
        Outcome::Produce(decisions) if decisions.iter().all(Result::is_ok) => {
            node.kernel.no_reply(reply)
        }
        _ => node.kernel.close(reply),
    });
}

/// Every batch that was placed, to be waited for.
fn pending(rows: &[Row], acks: Acks) -> Vec<PendingWrite> {
    let write = |row: &Row| {
        let placed = row.result.as_ref().ok()?;
        let last_offset = placed.last_offset;
        Some(PendingWrite { partition: row.id?, last_offset, acks, decided: None })
    };
    rows.iter().filter_map(write).collect()
}

/// Waits for every batch that was placed: acks=all for its time, acks=1 for the disk only.
fn wait(
    node: &mut Node,
    timeout_ms: i32,
    acks: Acks,
    names: Vec<TopicProduceResponse>,
    rows: Vec<Row>,
    reply: ReplyToken,
) {
    let writes = pending(&rows, acks);
    let timeout_ms = timeout_ms.max(0) as u64;
    let deadline = (acks == Acks::All).then(|| node.kernel.now().plus_ms(timeout_ms));
    waits::enter(node, reply.conn, deadline, Wait::Produce(writes), |node, outcome| {
        let Outcome::Produce(decisions) = outcome else {
            unreachable!("a produce is not ended by {outcome:?}")
        };
        let response = response(node, names, rows, decisions, &reply);
        node.kernel.reply(reply, response);
    });
}

fn response(
    node: &Node,
    mut topics: Vec<TopicProduceResponse>,
    rows: Vec<Row>,
    decisions: Vec<Result<(), ReplicaError>>,
    reply: &ReplyToken,
) -> ProduceResponse {
    let mut decisions = decisions.into_iter();
    let mut leaders = Vec::new();
    for row in rows {
        let result = row.result.and_then(|placed| match decisions.next() {
            Some(Err(error)) => Err(error_code(error).into()),
            _ => Ok(placed),
        });
        let data = match result {
            Ok(placed) => placed_data(&placed),
            Err(failure) => failed_data(node, failure, row.id, reply, &mut leaders),
        };
        topics[row.topic].partition_responses.push(data.with_index(row.index));
    }
    ProduceResponse::default().with_responses(topics).with_node_endpoints(endpoints(&leaders))
}

fn placed_data(placed: &Placed) -> PartitionProduceResponse {
    PartitionProduceResponse::default()
        .with_base_offset(placed.base_offset.0)
        .with_log_append_time_ms(placed.append_time_ms)
        .with_log_start_offset(placed.log_start.0)
}

fn failed_data(
    node: &Node,
    failure: Failure,
    id: Option<PartitionId>,
    reply: &ReplyToken,
    leaders: &mut Vec<LeaderHint>,
) -> PartitionProduceResponse {
    let code = failure.code.code();
    let mut data = PartitionProduceResponse::default()
        .with_error_code(code)
        .with_base_offset(NONE)
        .with_log_append_time_ms(NONE)
        .with_log_start_offset(NONE);
    if reply.version() >= MESSAGES_SINCE {
        data.record_errors =
            failure.record.map(|at| record_error(at, &failure)).into_iter().collect();
        data.error_message = failure.message.map(StrBytes::from_string);
    }
    let hint = id.filter(|_| reply.version() >= LEADER_SINCE && leader_hint::is_wanted(code));
    if let Some(hint) = hint.and_then(|id| leader_hint::find(node, id, reply.listener_name())) {
        data.current_leader = LeaderIdAndEpoch::default()
            .with_leader_id(hint.leader.0.into())
            .with_leader_epoch(hint.leader_epoch.0);
        leaders.push(hint);
    }
    data
}

fn record_error(at: usize, failure: &Failure) -> BatchIndexAndErrorMessage {
    BatchIndexAndErrorMessage::default()
        .with_batch_index(at as i32)
        .with_batch_index_error_message(failure.message.clone().map(StrBytes::from_string))
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
