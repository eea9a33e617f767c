//! The way of a client's batch into the log: checked, placed, stamped, written.

use bytes::Bytes;
use highwater_log::batch::{Policy, Refusal, TimestampType, stamp, validate};
use highwater_log::{Command, Done, LogId};
use highwater_node_core::replica::{Acks, ReplicaError};
use highwater_node_core::types::{Offset, PartitionId};
use thiserror::Error;

use super::convert::batch_meta;
use super::outputs::completed;
use super::{ask, step};
use crate::config::TopicConfig;
use crate::fetchers;
use crate::node::Node;

/// The most bytes that the records of one batch may have when decompressed, as a multiple of
/// `max.message.bytes`; compression ratios of real data are far below.
const DECOMPRESSED_LIMIT_FACTOR: usize = 256;
/// As much at most, whatever `max.message.bytes` allows: one batch must not exhaust the memory.
const DECOMPRESSED_LIMIT_BYTES: usize = 256 << 20;

/// Where a batch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The offset of its first record.
    pub(crate) base_offset: Offset,
    /// The offset of its last record.
    pub(crate) last_offset: Offset,
    /// The time that the leader gave it, in Unix milliseconds; -1 where the producer's count.
    pub(crate) append_time_ms: i64,
    /// The log start.
    pub(crate) log_start: Offset,
}

/// Why a batch was not placed.
#[derive(Clone, Debug, Error)]
pub(crate) enum NotPlaced {
    /// The replica refuses it.
    #[error(transparent)]
    Replica(#[from] ReplicaError),
    /// Its content is refused.
    #[error(transparent)]
    Records(#[from] Refusal),
    /// It belongs to a transaction, and no coordinator vouches for it (rule 53).
    #[error("the partition is not part of the producer's transaction")]
    Transactional,
}

/// Puts one partition's records into the log; the write itself is under way when this returns.
pub(crate) fn produce(
    node: &mut Node,
    id: PartitionId,
    records: Bytes,
    acks: Acks,
    zstd_allowed: bool,
) -> Result<Placed, NotPlaced> {
    ask(node, id, |replica, env| replica.check_leader(env, None))
        .ok_or(ReplicaError::NotLeaderOrFollower)??;
    let hosted = node.broker().replicas.hosted.get(id).expect("its replica was asked just now");
    let log = hosted.log;
    let policy = policy(&hosted.config, zstd_allowed, node.kernel.unix_ms());
    let valid = validate(records, &policy)?;
    if valid.batch.header().is_transactional() {
        return Err(NotPlaced::Transactional);
    }
    let mut meta = batch_meta(valid.batch.header());
    meta.max_timestamp_ms = valid.append_time.unwrap_or(meta.max_timestamp_ms);
    let appended = step(node, id, |replica, env, _| replica.append(env, &meta, acks))
        .ok_or(ReplicaError::NotLeaderOrFollower)??;
    let repeat_time = appended.repeat_of.map(|known| known.timestamp_ms);
    if appended.repeat_of.is_none() {
        let (base, epoch) = (appended.base_offset.0, appended.leader_epoch.0);
        write(node, id, log, stamp(valid.batch, base, epoch, valid.append_time));
    }
    Ok(Placed {
        base_offset: appended.base_offset,
        last_offset: appended.last_offset,
        append_time_ms: repeat_time.or(valid.append_time).unwrap_or(-1),
        log_start: ask(node, id, |replica, _| replica.bounds().log_start).unwrap_or_default(),
    })
}

/// Hands batches to the disk, and tells the replica when they are in the log.
pub(crate) fn write(node: &mut Node, id: PartitionId, log: LogId, batches: Bytes) {
    let command = Command::Append { log, batches, sync: false };
    node.kernel.disk(command, move |node, done| {
        let Some(done) = completed(node, id, log, done) else { return };
        let Done::Appended { log_end, segment_start } = done else {
            unreachable!("Append gives Appended, not {done:?}")
        };
        step(node, id, |replica, env, out| {
            replica.in_segment(Offset(segment_start));
            replica.written(env, Offset(log_end), out);
        });
        fetchers::resume(node, id);
    });
}

fn decompressed_max_bytes(message_max_bytes: usize) -> usize {
    let by_ratio = message_max_bytes.saturating_mul(DECOMPRESSED_LIMIT_FACTOR);
    by_ratio.min(DECOMPRESSED_LIMIT_BYTES.max(message_max_bytes))
}

fn policy(config: &TopicConfig, zstd_allowed: bool, now_ms: i64) -> Policy {
    let by_leader = config.timestamp_type == TimestampType::LogAppendTime;
    Policy {
        max_message_bytes: config.max_message_bytes,
        segment_bytes: config.log.segment_bytes as usize,
        compacted: config.compacted,
        timestamp_type: config.timestamp_type,
        // the producer's clock does not matter where it does not count
        before_max_ms: if by_leader { i64::MAX } else { config.timestamp_before_max_ms },
        after_max_ms: if by_leader { i64::MAX } else { config.timestamp_after_max_ms },
        codec: config.codec,
        zstd_allowed,
        decompressed_max_bytes: decompressed_max_bytes(config.max_message_bytes),
        now_ms,
    }
}
