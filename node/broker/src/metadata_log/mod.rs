//! The metadata log as bytes: its place on disk, its batches, and records between wire and core.

mod backlog;
mod batch;
mod from_wire;
mod open;
mod to_wire;

use highwater_log::{LogConfig, LogId};

pub(crate) use backlog::Backlog;
pub(crate) use batch::{DecodedBatch, MetadataLogError, decode, leader_change, records_batch};
pub(crate) use from_wire::resource_of;
pub(crate) use open::{OpenedLog, open};

/// The log's directory.
pub(crate) const DIR: &str = "__cluster_metadata-0";

/// The log's topic name.
pub(crate) const TOPIC: &str = "__cluster_metadata";

/// The log's topic id, the same in every cluster.
pub(crate) const TOPIC_ID: u128 = 1;

/// The log's number in the store; partitions are numbered from below.
pub(crate) const LOG: LogId = LogId(u64::MAX);

/// The log's settings: it is synced by command, and its segments are Kafka's default for it.
pub(crate) fn log_config() -> LogConfig {
    LogConfig::default()
}

#[cfg(test)]
mod tests;
