//! What a follower makes of its leader's answer.

use std::collections::BTreeMap;

use bytes::Bytes;
use highwater_log::batch::{Batch, BatchError, Batches};
use highwater_node_core::fetcher::{Asked, Fetched, Fetcher, Request, Taken};
use highwater_node_core::replica::{BatchMeta, Env, EpochEnd, Outputs, Replica};
use highwater_node_core::types::{BrokerId, LeaderEpoch, Offset, PartitionId, TopicId};
use highwater_wire::ErrorCode;
use highwater_wire::messages::FetchResponse;
use highwater_wire::messages::fetch_response::PartitionData;

use super::session::{self, Session};
use super::{fetch, range};
use crate::channel::CallError;
use crate::event::Event;
use crate::node::Node;
use crate::replicas::{self, batch_meta, produce};

pub(super) fn take(
    node: &mut Node,
    leader: BrokerId,
    request: Request,
    response: Result<FetchResponse, CallError>,
) {
    let lane = request.lane.0;
    let failed = match response {
        Ok(response) if response.error_code == 0 => {
            take_partitions(node, leader, &request, response);
            false
        }
        refused => {
            with_session(node, leader, lane, Session::begin_anew);
            !refused.is_ok_and(|response| session::is_of_session(response.error_code))
        }
    };
    let now = node.kernel.now();
    if let Some(link) = node.broker_mut().fetchers.by_leader.get_mut(&leader) {
        link.fetcher.request_ended(now, request.lane, failed);
    }
    fetch(node, leader);
}

fn with_session<T>(
    node: &mut Node,
    leader: BrokerId,
    lane: usize,
    change: impl FnOnce(&mut Session) -> T,
) -> Option<T> {
    let link = node.broker_mut().fetchers.by_leader.get_mut(&leader)?;
    Some(change(&mut link.sessions[lane]))
}

fn take_partitions(node: &mut Node, leader: BrokerId, request: &Request, response: FetchResponse) {
    let lane = request.lane.0;
    let incremental = with_session(node, leader, lane, |session| {
        let incremental = session.is_incremental();
        session.answered(response.session_id);
        incremental
    });
    let mut answers = by_partition(response);
    for one in &request.asked {
        let answer = answers.remove(&one.partition);
        if answer.is_none() && incremental == Some(true) {
            continue;
        }
        if !is_current(node, leader, one) {
            // The leader takes what it told for known; nobody here takes it in.
            with_session(node, leader, lane, Session::begin_anew);
        }
        take_partition(node, leader, one, answer);
    }
}

fn is_current(node: &Node, leader: BrokerId, asked: &Asked) -> bool {
    let broker = node.broker();
    let replica = broker.replicas.replica(asked.partition);
    let link = broker.fetchers.by_leader.get(&leader);
    link.zip(replica).is_some_and(|(link, replica)| link.fetcher.is_current(asked, replica))
}

fn by_partition(response: FetchResponse) -> BTreeMap<PartitionId, PartitionData> {
    let topics = response.responses.into_iter();
    topics
        .flat_map(|topic| {
            let id = TopicId(topic.topic_id.as_u128());
            let partition = move |index| PartitionId { topic: id, index };
            topic.partitions.into_iter().map(move |p| (partition(p.partition_index), p))
        })
        .collect()
}

fn take_partition(node: &mut Node, leader: BrokerId, asked: &Asked, answer: Option<PartitionData>) {
    let Some(data) = answer else { return give(node, leader, asked, Fetched::Refused) };
    if data.diverging_epoch.end_offset >= 0 {
        let end = EpochEnd {
            epoch: LeaderEpoch(data.diverging_epoch.epoch),
            end: Offset(data.diverging_epoch.end_offset),
        };
        return give(node, leader, asked, Fetched::Diverging(end));
    }
    match ErrorCode::from_code(data.error_code) {
        Some(ErrorCode::None) => take_records(node, leader, asked, data),
        Some(ErrorCode::OffsetOutOfRange) => give(node, leader, asked, Fetched::OutOfRange),
        Some(ErrorCode::UnknownLeaderEpoch | ErrorCode::NotLeaderOrFollower) => {
            give(node, leader, asked, Fetched::TooEarly);
        }
        _ => give(node, leader, asked, Fetched::Refused),
    }
}

fn take_records(node: &mut Node, leader: BrokerId, asked: &Asked, data: PartitionData) {
    let high_watermark = Offset(data.high_watermark);
    match whole_batches(data.records.unwrap_or_default()) {
        Ok((batches, bytes)) => {
            let taken =
                apply(node, leader, asked, Fetched::Records { batches: &batches, high_watermark });
            if taken == Taken::Write
                && let Some(hosted) = node.broker().replicas.hosted.get(asked.partition)
            {
                let log = hosted.log;
                produce::write(node, asked.partition, log, bytes);
            }
        }
        Err(error) => {
            let text = format!("broker {leader} sent a batch that cannot be used: {error}");
            node.kernel.event(Event::Warning { text });
            give(node, leader, asked, Fetched::Refused);
        }
    }
}

/// The headers and bytes of the whole batches, each with the checksum that it claims; half a batch
/// at the end is left for the next fetch.
fn whole_batches(records: Bytes) -> Result<(Vec<BatchMeta>, Bytes), BatchError> {
    let mut metas = Vec::new();
    let mut length = 0;
    for batch in Batches::new(records.clone()) {
        let batch: Batch = match batch {
            Err(BatchError::Incomplete { .. }) => break,
            batch => batch?,
        };
        batch.check_crc()?;
        metas.push(batch_meta(batch.header()));
        length += batch.bytes().len();
    }
    Ok((metas, records.slice(..length)))
}

/// Gives the fetcher an answer without records, and does what it asks for.
fn give(node: &mut Node, leader: BrokerId, asked: &Asked, answer: Fetched) {
    if apply(node, leader, asked, answer) == Taken::AskRange {
        range::ask(node, leader, *asked);
    }
}

fn apply(node: &mut Node, leader: BrokerId, asked: &Asked, answer: Fetched) -> Taken {
    with_fetcher(node, leader, asked, |fetcher, env, replica, out| {
        fetcher.answered(env, asked, replica, answer, out)
    })
    .unwrap_or(Taken::Nothing)
}

/// Lets the fetcher of this leader change a replica; nothing happens when either is gone.
pub(super) fn with_fetcher<T>(
    node: &mut Node,
    leader: BrokerId,
    asked: &Asked,
    change: impl FnOnce(&mut Fetcher, &Env, &mut Replica, &mut Outputs) -> T,
) -> Option<T> {
    let (now, rules) = (node.kernel.now(), node.rules);
    let broker = node.broker_mut();
    let link = broker.fetchers.by_leader.get_mut(&leader)?;
    let (replica, brokers) = broker.replicas.replica_mut(asked.partition)?;
    let mut out = Outputs::new();
    let env = Env { now, rules: &rules, brokers };
    let result = change(&mut link.fetcher, &env, replica, &mut out);
    replicas::carry_out(node, asked.partition, out);
    Some(result)
}
