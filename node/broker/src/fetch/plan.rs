//! A Fetch request in the core's terms, whatever its version.

use highwater_node_core::replica::{FetchQuery, Isolation, Reader};
use highwater_node_core::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionId, TopicId,
};
use highwater_wire::ErrorCode;
use highwater_wire::messages::FetchRequest;
use highwater_wire::messages::fetch_request::FetchPartition;

use super::session::{Key, Wanted};
use super::sessions::{SessionFetch, SessionRequest};
use crate::node::Node;
use crate::replicas::{TopicRef, resolve};
use crate::reply::ReplyToken;

/// Topics are named by id from here on.
const TOPIC_IDS_SINCE: i16 = 13;
/// The follower's id and epoch stand in the replica state from here on.
const REPLICA_STATE_SINCE: i16 = 15;
/// Consumers may read from followers from here on (KIP-392).
const FOLLOWER_READS_SINCE: i16 = 11;
/// Sessions exist from here on; older requests want none.
const SESSIONS_SINCE: i16 = 7;
/// The replica id of a tool that may look at everything, on any replica.
const DEBUGGING_REPLICA: i32 = -2;
/// `isolation_level` of read_committed.
const READ_COMMITTED: i8 = 1;

/// A fetch that is to be answered.
#[derive(Debug)]
pub(super) struct Plan {
    pub reply: ReplyToken,
    /// The session of the answer, 0 for none.
    pub session: i32,
    /// True when the answer names only partitions with news.
    pub incremental: bool,
    /// True for read_committed, whose answers list aborted transactions.
    pub read_committed: bool,
    pub max_wait_ms: u64,
    pub min_bytes: u64,
    pub max_bytes: usize,
    pub parts: Vec<Part>,
}

/// One partition of a fetch.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// As the client names it.
    pub key: Key,
    /// Which it is, if the metadata has it.
    pub id: Result<PartitionId, ErrorCode>,
    pub query: FetchQuery,
    pub max_bytes: usize,
}

/// Finds out what a request wants; an error concerns its session.
pub(super) fn plan(
    node: &mut Node,
    request: FetchRequest,
    reply: ReplyToken,
    fresh_id: i32,
) -> Result<Plan, (ReplyToken, ErrorCode)> {
    let version = reply.version();
    let reader = reader(&request, version);
    let now = node.kernel.now();
    let wanted = session_request(&request, version);
    let fetch = match node.broker_mut().fetch_sessions.take(now, wanted, fresh_id) {
        Ok(fetch) => fetch,
        Err(error) => return Err((reply, error)),
    };
    let SessionFetch { id, incremental, partitions } = fetch;
    let parts = partitions.into_iter().map(|(key, wanted)| part(node, reader, key, wanted));
    let parts = parts.collect();
    let max_bytes = max_bytes(node, &request);
    Ok(Plan {
        reply,
        session: id,
        incremental,
        read_committed: reader.isolation() == Isolation::LastStable,
        max_wait_ms: request.max_wait_ms.max(0) as u64,
        min_bytes: (request.min_bytes.max(0) as u64).min(max_bytes as u64),
        max_bytes,
        parts,
    })
}

fn reader(request: &FetchRequest, version: i16) -> Reader {
    let (id, epoch) = match version {
        REPLICA_STATE_SINCE.. => {
            (request.replica_state.replica_id.0, request.replica_state.replica_epoch)
        }
        _ => (request.replica_id.0, -1),
    };
    let isolation = match request.isolation_level {
        READ_COMMITTED => Isolation::LastStable,
        _ => Isolation::HighWatermark,
    };
    match id {
        0.. => Reader::Follower { id: BrokerId(id), epoch: BrokerEpoch(epoch) },
        DEBUGGING_REPLICA => Reader::Anywhere(Isolation::LogEnd),
        _ if version >= FOLLOWER_READS_SINCE => Reader::Anywhere(isolation),
        _ => Reader::Consumer(isolation),
    }
}

/// Everybody gets at most `fetch.max.bytes`, followers too; a larger first batch comes whole.
pub(super) fn max_bytes(node: &Node, request: &FetchRequest) -> usize {
    let asked = request.max_bytes.max(0) as usize;
    asked.min(node.config.replication.answer_max_bytes)
}

fn session_request(request: &FetchRequest, version: i16) -> SessionRequest {
    let by_id = version >= TOPIC_IDS_SINCE;
    let topic = |name: &str, id: u128| match by_id {
        true => TopicRef::Id(TopicId(id)),
        false => TopicRef::Name(name.to_owned()),
    };
    let mut named = Vec::new();
    for entry in &request.topics {
        let topic = topic(&entry.topic, entry.topic_id.as_u128());
        for partition in &entry.partitions {
            let key = Key { topic: topic.clone(), index: partition.partition };
            named.push((key, wanted(partition)));
        }
    }
    let forgotten = request.forgotten_topics_data.iter().flat_map(|entry| {
        let topic = topic(&entry.topic, entry.topic_id.as_u128());
        entry.partitions.iter().map(move |&index| Key { topic: topic.clone(), index })
    });
    let epoch = if version >= SESSIONS_SINCE { request.session_epoch } else { -1 };
    SessionRequest { id: request.session_id, epoch, named, forgotten: forgotten.collect(), by_id }
}

fn wanted(partition: &FetchPartition) -> Wanted {
    let epoch = |epoch: i32| (epoch >= 0).then_some(LeaderEpoch(epoch));
    Wanted {
        offset: Offset(partition.fetch_offset),
        max_bytes: partition.partition_max_bytes.max(0) as usize,
        leader_epoch: epoch(partition.current_leader_epoch),
        last_fetched_epoch: epoch(partition.last_fetched_epoch),
    }
}

fn part(node: &Node, reader: Reader, key: Key, wanted: Wanted) -> Part {
    let query = FetchQuery {
        reader,
        offset: wanted.offset,
        leader_epoch: wanted.leader_epoch,
        last_fetched_epoch: wanted.last_fetched_epoch,
    };
    let id = resolve(node, &key.topic, key.index);
    Part { key, id, query, max_bytes: wanted.max_bytes }
}
