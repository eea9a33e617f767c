//! Carries out what a replica asks for: disk commands, ISR proposals, events, wake-ups.

use highwater_log::{Command, Completion, Done, LogId, StoreError};
use highwater_node_core::replica::{Output, Outputs, ReplicaEvent};
use highwater_node_core::types::{BrokerId, LeaderEpoch, Offset, PartitionId};

use super::convert::producers;
use super::{step, waits};
use crate::event::Event;
use crate::node::Node;
use crate::startup::give_up;
use crate::{alter_partition, fetchers};

/// Does what a replica's step asked for, in order.
pub(crate) fn carry_out(node: &mut Node, id: PartitionId, outputs: Outputs) {
    let mut moved = false;
    let mut standing_changed = false;
    for output in outputs {
        match output {
            Output::Truncate { to } => {
                cut(node, id, |log| Command::Truncate { log, to: to.0 });
            }
            Output::TruncateFully { start } => {
                cut(node, id, |log| Command::TruncateFully { log, start: start.0 });
            }
            Output::EpochStarted { epoch, start } => note_epoch(node, id, epoch, start),
            Output::ProposeIsr(proposal) => alter_partition::propose(node, id, proposal),
            Output::HighWatermarkMoved { .. } | Output::LogEndMoved { .. } => moved = true,
            Output::StandingChanged => standing_changed = true,
            Output::Event(event) => tell(node, id, event),
        }
    }
    if standing_changed {
        fetchers::assign(node, id);
    }
    if moved || standing_changed {
        waits::touch(node, id);
    }
}

/// Lets the disk cut the log, then tells the replica what is left (rule 15).
fn cut(node: &mut Node, id: PartitionId, command: impl FnOnce(LogId) -> Command) {
    let Some(log) = log_of(node, id) else { return };
    node.kernel.disk(command(log), move |node, done| {
        let Some(done) = completed(node, id, log, done) else { return };
        let Done::Truncated(left) = done else {
            unreachable!("a cut gives Truncated, not {done:?}")
        };
        step(node, id, |replica, env, out| replica.truncated(env, producers(&left), out));
        fetchers::resume(node, id);
    });
}

fn note_epoch(node: &mut Node, id: PartitionId, epoch: LeaderEpoch, start: Offset) {
    let Some(log) = log_of(node, id) else { return };
    let command = Command::AssignEpoch { log, epoch: epoch.0, start_offset: start.0 };
    node.kernel.disk(command, move |node, done| {
        completed(node, id, log, done);
    });
}

fn log_of(node: &Node, id: PartitionId) -> Option<LogId> {
    node.broker().replicas.hosted.get(id).map(|hosted| hosted.log)
}

/// What a command on a replica's log gave; `None` when it failed or the log is no longer this
/// partition's.
pub(super) fn completed(
    node: &mut Node,
    id: PartitionId,
    log: LogId,
    done: Completion,
) -> Option<Done> {
    let current = log_of(node, id) == Some(log);
    match done {
        Ok(done) => current.then_some(done),
        Err(error) => {
            if current {
                disk_failed(node, id, &error);
            }
            None
        }
    }
}

/// The replica is offline; when the disk itself failed, so is the broker, which has no other one.
fn disk_failed(node: &mut Node, id: PartitionId, error: &StoreError) {
    let text = format!("{}: its log failed: {error}", name(node, id));
    node.kernel.event(Event::Warning { text });
    step(node, id, |replica, _, out| replica.failed(out));
    if matches!(error, StoreError::Disk(_)) {
        give_up(node, error);
    }
}

/// `topic-index`, for people.
fn name(node: &Node, id: PartitionId) -> String {
    let topic = node.broker().replicas.hosted.get(id).map_or("?", |hosted| hosted.topic.as_str());
    format!("{topic}-{}", id.index)
}

fn tell(node: &mut Node, id: PartitionId, event: ReplicaEvent) {
    let partition = name(node, id);
    let number = |broker: Option<BrokerId>| broker.map_or(-1, |id| id.0);
    node.kernel.event(match event {
        ReplicaEvent::Leads { epoch, start, high_watermark } => Event::Leads {
            partition,
            leader_epoch: epoch.0,
            start_offset: start.0,
            high_watermark: high_watermark.0,
        },
        ReplicaEvent::Follows { leader, epoch } => {
            Event::Follows { partition, leader: number(leader), leader_epoch: epoch.0 }
        }
        ReplicaEvent::Truncated { from, to, high_watermark } => {
            Event::Truncated { partition, from: from.0, to: to.0, high_watermark: high_watermark.0 }
        }
        ReplicaEvent::IsrChanged { isr, partition_epoch } => Event::IsrChanged {
            partition,
            isr: isr.iter().map(|id| id.0).collect(),
            partition_epoch: partition_epoch.0,
        },
        ReplicaEvent::Failed => Event::ReplicaFailed { partition },
    });
}
