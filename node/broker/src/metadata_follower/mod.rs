//! The broker's side of the metadata log: fetches it, keeps a copy, applies what is committed.
//!
//! On a node that is controller too there is one log only, and the controller hands over what it
//! commits (`apply_local`).

mod answer;
mod fetch;
mod publish;

use std::fmt;

use highwater_node_core::metadata::Delta;
use highwater_node_core::quorum::Observer;
use highwater_node_core::replica::EpochCache;
use highwater_node_core::types::{BrokerId, Offset};

use crate::metadata_log::{self, Backlog, DecodedBatch, OpenedLog};
use crate::node::Node;
use crate::startup::give_up;

/// What a broker knows of the metadata log.
pub struct MetadataFollower {
    observer: Observer,
    /// What is in the own copy and not known to be committed.
    backlog: Backlog,
}

impl MetadataFollower {
    pub(crate) fn new(id: BrokerId) -> MetadataFollower {
        let observer = Observer::new(id, Offset(0), EpochCache::default());
        MetadataFollower { observer, backlog: Backlog::default() }
    }

    /// Where the follower stands.
    pub fn observer(&self) -> &Observer {
        &self.observer
    }
}

/// Reads the own copy of the log, then follows the controller.
pub(crate) fn start(node: &mut Node) {
    if node.controller.is_some() {
        return;
    }
    metadata_log::open(node, |node, opened| {
        let OpenedLog { log_end, epochs, batches } = opened;
        let id = node.config.node_id;
        let follower = &mut node.broker_mut().follower;
        follower.observer = Observer::new(id, log_end, epochs);
        for batch in batches {
            follower.backlog.push(batch);
        }
        fetch::fetch(node);
    });
}

/// The controller on this node committed these batches.
pub(crate) fn apply_local(node: &mut Node, batches: &[DecodedBatch]) {
    let Some(end) = batches.last().map(|last| last.span.end) else { return };
    let id = node.config.node_id;
    let broker = node.broker_mut();
    broker.controller = Some(id);
    for batch in batches {
        broker.follower.backlog.push(batch.clone());
    }
    commit(node, end);
}

/// Applies what is committed to the image, and tells the parts of the broker what changed.
fn commit(node: &mut Node, high_watermark: Offset) {
    let broker = node.broker_mut();
    let mut delta = Delta::default();
    let applied = broker.follower.backlog.commit(high_watermark, &mut broker.replay, &mut delta);
    match applied {
        Ok(applied) if applied.is_empty() => {}
        Ok(_) => publish::publish(node, &delta),
        Err(error) => give_up(node, &error),
    }
}

impl fmt::Debug for MetadataFollower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetadataFollower").field("observer", &self.observer).finish_non_exhaustive()
    }
}
