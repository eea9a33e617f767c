//! ListOffsets: where a log begins, ends, and what offset a time has (rules 6, 12, 19, 58).

use std::collections::BTreeSet;

use highwater_log::store::TimeQuery;
use highwater_log::{Command, Done};
use highwater_node_core::replica::{Isolation, Reader, Visibility};
use highwater_node_core::types::{BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionId};
use highwater_wire::ErrorCode;
use highwater_wire::messages::list_offsets_request::ListOffsetsPartition;
use highwater_wire::messages::list_offsets_response::{
    ListOffsetsPartitionResponse, ListOffsetsTopicResponse,
};
use highwater_wire::messages::{ListOffsetsRequest, ListOffsetsResponse};

use crate::gather::Gather;
use crate::node::Node;
use crate::replicas::{self, TopicRef, error_code, resolve};
use crate::reply::ReplyToken;

entry!(ListOffsets, Broker, handle);

/// The log end that the caller may see.
const LATEST: i64 = -1;
/// The log start.
const EARLIEST: i64 = -2;
/// The record with the largest timestamp (KIP-734).
const MAX_TIMESTAMP: i64 = -3;
/// The start of what is on this broker's disk (KIP-405): the log start.
const EARLIEST_LOCAL: i64 = -4;
/// The end of what is in tiered storage (KIP-1005), which there is none of.
const LATEST_TIERED: i64 = -5;
/// The replica id of a tool that may look at any replica.
const DEBUGGING_REPLICA: i32 = -2;
const READ_COMMITTED: i8 = 1;
/// The version that tells leader epochs (KIP-320).
const EPOCH_SINCE: i16 = 4;
/// What stands where there is no offset, time or epoch.
const NONE: i64 = -1;

/// An offset with its record's time and epoch.
#[derive(Clone, Copy, Debug)]
struct Located {
    offset: i64,
    timestamp: i64,
    leader_epoch: i32,
}

const NOWHERE: Located = Located { offset: NONE, timestamp: NONE, leader_epoch: -1 };

fn handle(node: &mut Node, request: ListOffsetsRequest, reply: ReplyToken) {
    let reader = reader(&request);
    let repeated = repeated(&request);
    let mut asked = Vec::new();
    let topics: Vec<ListOffsetsTopicResponse> = request
        .topics
        .into_iter()
        .enumerate()
        .map(|(at, topic)| {
            asked.extend(topic.partitions.into_iter().map(|p| (at, topic.name.clone(), p)));
            ListOffsetsTopicResponse::default().with_name(topic.name)
        })
        .collect();
    let gather = Gather::begin(node, asked.len(), move |node, rows| {
        let response = response(reply.version(), topics, rows);
        node.kernel.reply(reply, response);
    });
    for (nth, (at, name, partition)) in asked.into_iter().enumerate() {
        let twice = repeated.contains(&(name.to_string(), partition.partition_index));
        let index = partition.partition_index;
        let gather = gather.clone();
        let tell = move |node: &mut Node, located| {
            gather.give(node, nth, (at, row(index, located)));
        };
        match twice {
            true => tell(node, Err(ErrorCode::InvalidRequest)),
            false => locate(node, reader, &TopicRef::Name(name.to_string()), &partition, tell),
        }
    }
}

fn reader(request: &ListOffsetsRequest) -> Reader {
    let isolation = match request.isolation_level {
        READ_COMMITTED => Isolation::LastStable,
        _ => Isolation::HighWatermark,
    };
    match request.replica_id.0 {
        id @ 0.. => Reader::Follower { id: BrokerId(id), epoch: BrokerEpoch(-1) },
        DEBUGGING_REPLICA => Reader::Anywhere(Isolation::LogEnd),
        _ => Reader::Consumer(isolation),
    }
}

/// Partitions that are named more than once.
fn repeated(request: &ListOffsetsRequest) -> BTreeSet<(String, i32)> {
    let mut seen = BTreeSet::new();
    let all = request.topics.iter().flat_map(|topic| {
        topic.partitions.iter().map(|p| (topic.name.to_string(), p.partition_index))
    });
    all.filter(|one| !seen.insert(one.clone())).collect()
}

/// Finds what one partition was asked for.
fn locate(
    node: &mut Node,
    reader: Reader,
    topic: &TopicRef,
    partition: &ListOffsetsPartition,
    tell: impl FnOnce(&mut Node, Result<Located, ErrorCode>) + Send + 'static,
) {
    let epoch = partition.current_leader_epoch;
    let epoch = (epoch >= 0).then_some(LeaderEpoch(epoch));
    let seen = resolve(node, topic, partition.partition_index).and_then(|id| {
        let visibility = replicas::ask(node, id, |r, env| r.visibility(env, reader, epoch));
        let visibility = visibility.ok_or(ErrorCode::NotLeaderOrFollower)?;
        Ok((id, visibility.map_err(error_code)?))
    });
    let (id, visibility) = match seen {
        Ok(seen) => seen,
        Err(error) => return tell(node, Err(error)),
    };
    match partition.timestamp {
        LATEST => tell(node, latest(visibility)),
        EARLIEST | EARLIEST_LOCAL => {
            let earliest = earliest(node, id);
            tell(node, Ok(earliest));
        }
        LATEST_TIERED => tell(node, Ok(NOWHERE)),
        MAX_TIMESTAMP => by_time(node, id, TimeQuery::Largest, visibility, tell),
        time @ 0.. => by_time(node, id, TimeQuery::AtOrAfter(time), visibility, tell),
        _ => tell(node, Err(ErrorCode::UnsupportedVersion)),
    }
}

fn latest(visibility: Visibility) -> Result<Located, ErrorCode> {
    visibility.end.map_err(error_code)?;
    let leader_epoch = visibility.leader_epoch.0;
    Ok(Located { offset: visibility.bound.0, timestamp: NONE, leader_epoch })
}

/// The log start, and the epoch of the record there.
fn earliest(node: &Node, id: PartitionId) -> Located {
    let found = replicas::ask(node, id, |replica, _| {
        let start = replica.bounds().log_start;
        let epochs = replica.epochs().iter().rev();
        let epoch = epochs.map(|(epoch, at)| (epoch.0, *at)).find(|(_, at)| *at <= start);
        (start, epoch.map_or(-1, |(epoch, _)| epoch))
    });
    let (start, leader_epoch) = found.unwrap_or((Offset(NONE), -1));
    Located { offset: start.0, timestamp: NONE, leader_epoch }
}

/// Looks a time up; past what the caller may see there is nothing, or nothing certain (rule 19).
fn by_time(
    node: &mut Node,
    id: PartitionId,
    query: TimeQuery,
    visibility: Visibility,
    tell: impl FnOnce(&mut Node, Result<Located, ErrorCode>) + Send + 'static,
) {
    let Some(hosted) = node.broker().replicas.hosted.get(id) else {
        return tell(node, Err(ErrorCode::NotLeaderOrFollower));
    };
    let (log, upto) = (hosted.log, visibility.bound.0);
    node.kernel.disk(Command::OffsetForTime { log, query, upto }, move |node, done| {
        let located = match done {
            Ok(Done::TimedOffset(Some(found))) => Ok(Located {
                offset: found.offset,
                timestamp: found.timestamp,
                leader_epoch: found.leader_epoch,
            }),
            Ok(Done::TimedOffset(None)) => visibility.end.map_err(error_code).map(|()| NOWHERE),
            Ok(other) => unreachable!("OffsetForTime gives TimedOffset, not {other:?}"),
            Err(_) => Err(ErrorCode::KafkaStorageError),
        };
        tell(node, located);
    });
}

fn row(index: i32, located: Result<Located, ErrorCode>) -> ListOffsetsPartitionResponse {
    let row = ListOffsetsPartitionResponse::default().with_partition_index(index);
    match located {
        Err(error) => row
            .with_error_code(error.code())
            .with_timestamp(NONE)
            .with_offset(NONE)
            .with_leader_epoch(-1),
        Ok(found) => row
            .with_timestamp(found.timestamp)
            .with_offset(found.offset)
            .with_leader_epoch(found.leader_epoch),
    }
}

fn response(
    version: i16,
    mut topics: Vec<ListOffsetsTopicResponse>,
    rows: Vec<(usize, ListOffsetsPartitionResponse)>,
) -> ListOffsetsResponse {
    for (topic, row) in rows {
        let row = if version < EPOCH_SINCE { row.with_leader_epoch(-1) } else { row };
        topics[topic].partitions.push(row);
    }
    ListOffsetsResponse::default().with_topics(topics)
}
