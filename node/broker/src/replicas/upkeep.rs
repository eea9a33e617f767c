//! What replicas need by the clock: lag checks, high watermark checkpoints, silent producers.

use highwater_log::{Command, LogId};
use highwater_node_core::replica::Replica;
use highwater_node_core::types::PartitionId;

use super::step;
use crate::event::Event;
use crate::node::Node;
use crate::startup::Startup;

/// Takes over what the log directory holds, and sets the clock.
pub(crate) fn start(node: &mut Node, startup: &Startup) {
    let found = startup.logs.iter().map(|log| (log.dir.clone(), log.clone()));
    node.broker_mut().replicas.found = found.collect();
    check_lag_later(node);
    checkpoint_later(node);
    expire_producers_later(node);
}

/// Rule 24: the check runs every half of the lag limit.
fn check_lag_later(node: &mut Node) {
    let every_ms = (node.config.replication.lag_time_max_ms / 2).max(1);
    node.kernel.after(every_ms, |node| {
        for id in all(node) {
            step(node, id, Replica::check_isr);
        }
        check_lag_later(node);
    });
}

fn checkpoint_later(node: &mut Node) {
    let every_ms = node.config.replication.high_watermark_checkpoint_interval_ms;
    node.kernel.after(every_ms, |node| {
        let high_watermarks = high_watermarks(node);
        node.kernel.disk(Command::Checkpoint { high_watermarks }, |node, done| {
            if let Err(error) = done {
                let text = format!("the checkpoints cannot be written: {error}");
                node.kernel.event(Event::Warning { text });
            }
        });
        checkpoint_later(node);
    });
}

/// The high watermark of every replica, for a checkpoint.
pub(crate) fn high_watermarks(node: &Node) -> Vec<(LogId, i64)> {
    let Some(broker) = &node.broker else { return Vec::new() };
    let hosted = broker.replicas.hosted.iter();
    let known = hosted.filter_map(|(_, hosted)| Some((hosted.log, hosted.replica.as_ref()?)));
    known.map(|(log, replica)| (log, replica.bounds().high_watermark.0)).collect()
}

fn expire_producers_later(node: &mut Node) {
    let every_ms = node.config.replication.producer_id_expiration_check_interval_ms;
    node.kernel.after(every_ms, |node| {
        let limit_ms = node.config.replication.producer_id_expiration_ms;
        let now_ms = node.kernel.unix_ms();
        for id in all(node) {
            step(node, id, |replica, _, _| replica.expire_producers(now_ms, limit_ms));
        }
        expire_producers_later(node);
    });
}

fn all(node: &Node) -> Vec<PartitionId> {
    node.broker().replicas.hosted.iter().map(|(id, _)| id).collect()
}
