//! Asks the controller for the metadata log, one fetch at a time.

use highwater_wire::StrBytes;
use highwater_wire::messages::FetchRequest;
use highwater_wire::messages::fetch_request::{FetchPartition, FetchTopic, ReplicaState};
use uuid::Uuid;

use super::answer;
use crate::channel::{ChannelKey, Peer};
use crate::metadata_log::TOPIC_ID;
use crate::node::Node;

const CHANNEL: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "metadata" };
/// How long the controller may hold a fetch for which it has nothing yet.
const MAX_WAIT_MS: i32 = 500;
/// The most bytes of one answer.
const MAX_BYTES: i32 = 8 << 20;
/// The wait before the next fetch after one that failed.
const RETRY_MS: u64 = 100;

/// Fetches from the end of the own copy.
pub(super) fn fetch(node: &mut Node) {
    let request = request(node);
    let timeout_ms = node.config.quorum_fetch_timeout_ms.max(2 * MAX_WAIT_MS as u64);
    node.kernel.call(CHANNEL, request, timeout_ms, |node, answer| match answer {
        Ok(response) => answer::take(node, response),
        Err(_) => fetch_later(node),
    });
}

/// Fetches again after a pause: something failed.
pub(super) fn fetch_later(node: &mut Node) {
    node.kernel.after(RETRY_MS, fetch);
}

fn request(node: &Node) -> FetchRequest {
    let observer = &node.broker().follower.observer;
    let fetch = observer.fetch();
    // Until the leader has said what is committed, that is wanted at once.
    let max_wait_ms = if observer.high_watermark().is_some() { MAX_WAIT_MS } else { 0 };
    let partition = FetchPartition::default()
        .with_partition(0)
        .with_fetch_offset(fetch.offset.0)
        .with_current_leader_epoch(fetch.current_epoch.map_or(-1, |epoch| epoch.0))
        .with_last_fetched_epoch(fetch.last_epoch.map_or(-1, |epoch| epoch.0))
        .with_log_start_offset(0)
        .with_partition_max_bytes(MAX_BYTES)
        .with_replica_directory_id(Uuid::from_u128(node.config.directory_id));
    let topic = FetchTopic::default()
        .with_topic_id(Uuid::from_u128(TOPIC_ID))
        .with_partitions(vec![partition]);
    let replica = ReplicaState::default().with_replica_id(fetch.replica.0.into());
    FetchRequest::default()
        .with_cluster_id(Some(StrBytes::from_string(node.config.cluster_id.clone())))
        .with_replica_state(replica)
        .with_max_wait_ms(max_wait_ms)
        .with_max_bytes(MAX_BYTES)
        .with_topics(vec![topic])
}
