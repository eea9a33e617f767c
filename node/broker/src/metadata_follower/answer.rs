//! Takes the controller's answer to a fetch of the metadata log.

use bytes::Bytes;
use highwater_log::{Command, Done};
use highwater_node_core::quorum::BatchSpan;
use highwater_node_core::replica::EpochEnd;
use highwater_node_core::types::{BrokerId, LeaderEpoch, Offset};
use highwater_wire::messages::FetchResponse;
use highwater_wire::messages::fetch_response::PartitionData;

use super::{commit, fetch};
use crate::channel::Peer;
use crate::event::Event;
use crate::metadata_log::{self, LOG};
use crate::node::Node;
use crate::startup::give_up;

/// Takes an answer, and sees to the next fetch.
pub(super) fn take(node: &mut Node, response: FetchResponse) {
    let error = response.error_code;
    let topic = response.responses.into_iter().next();
    let data = topic.and_then(|topic| topic.partitions.into_iter().next());
    match data {
        Some(data) if error == 0 => take_partition(node, data),
        _ => {
            let why = highwater_wire::error::error_name(error);
            let text = format!("the controller refused a fetch of the metadata log: {why}");
            node.kernel.event(Event::Warning { text });
            fetch::fetch_later(node);
        }
    }
}

fn take_partition(node: &mut Node, data: PartitionData) {
    let newer = note_leader(node, &data);
    if data.error_code != 0 {
        // A newer epoch is all that was missing; anything else takes a while to change.
        if newer {
            fetch::fetch(node)
        } else {
            fetch::fetch_later(node)
        }
        return;
    }
    let theirs = &data.diverging_epoch;
    if theirs.epoch >= 0 {
        let (epoch, end) = (LeaderEpoch(theirs.epoch), Offset(theirs.end_offset));
        return truncate(node, EpochEnd { epoch, end });
    }
    let records = data.records.unwrap_or_default();
    append(node, records, Offset(data.high_watermark));
    fetch::fetch(node);
}

/// Notes who leads the quorum; true when that is news.
fn note_leader(node: &mut Node, data: &PartitionData) -> bool {
    let epoch = LeaderEpoch(data.current_leader.leader_epoch);
    if epoch < LeaderEpoch(0) {
        return false;
    }
    let leader = BrokerId(data.current_leader.leader_id.0);
    let broker = node.broker_mut();
    let before = (broker.follower.observer.epoch(), broker.follower.observer.leader());
    let leader = (leader.0 >= 0).then_some(leader);
    broker.follower.observer.on_leader(epoch, leader);
    let observer = &broker.follower.observer;
    let now = (observer.epoch(), observer.leader());
    if broker.controller != now.1 && now.1.is_some() {
        broker.controller = now.1;
        if before.1.is_some() {
            node.kernel.reset_peer(Peer::Controller);
        }
    }
    before != now
}

/// Appends to the own copy, and applies what is committed. The copy is not synced: an observer's
/// vote is not counted, and what a crash takes is fetched again.
fn append(node: &mut Node, records: Bytes, high_watermark: Offset) {
    let batches = match metadata_log::decode(records.clone()) {
        Ok(batches) => batches,
        Err(error) => return give_up(node, &error),
    };
    let spans: Vec<BatchSpan> = batches.iter().map(|batch| batch.span).collect();
    let follower = &mut node.broker_mut().follower;
    let committed = match follower.observer.on_records(&spans, high_watermark) {
        Ok(committed) => committed,
        Err(error) => return give_up(node, &error),
    };
    for batch in batches {
        follower.backlog.push(batch);
    }
    if !records.is_empty() {
        let command = Command::Append { log: LOG, batches: records, sync: false };
        node.kernel.disk(command, |node, done| {
            if let Err(error) = done {
                give_up(node, &error);
            }
        });
    }
    commit(node, committed);
}

fn truncate(node: &mut Node, theirs: EpochEnd) {
    let follower = &mut node.broker_mut().follower;
    let cut = match follower.observer.on_diverging(theirs) {
        Ok(cut) => cut,
        Err(error) => return give_up(node, &error),
    };
    follower.backlog.truncate(cut);
    node.kernel.event(Event::MetadataTruncated { to: cut.0 });
    let command = Command::Truncate { log: LOG, to: cut.0 };
    node.kernel.disk(command, |node, done| match done {
        Ok(Done::Truncated(_)) => fetch::fetch(node),
        Ok(other) => unreachable!("Truncate gives Truncated, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
}
