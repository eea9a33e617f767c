//! Appends to the metadata log and commits it: what the quorum decides becomes disk commands.

use bytes::Bytes;
use highwater_log::{Command, Done};
use highwater_node_core::metadata::{Delta, Record};
use highwater_node_core::quorum::{BatchSpan, QuorumInput, QuorumOutput, QuorumState};
use highwater_node_core::types::{LeaderEpoch, Offset};

use super::{active, events, fetch, quorum_state};
use crate::event::Event;
use crate::metadata_follower;
use crate::metadata_log::{self, DecodedBatch};
use crate::node::Node;
use crate::startup::give_up;

/// Tells the quorum something, and does what it wants.
pub(super) fn tell(node: &mut Node, input: QuorumInput) {
    let mut out = Vec::new();
    node.controller_mut().quorum.step(input, &mut out);
    obey(node, out);
}

/// Does what the quorum wants.
pub(super) fn obey(node: &mut Node, outputs: Vec<QuorumOutput>) {
    for output in outputs {
        match output {
            QuorumOutput::SaveState(state) => save_state(node, state),
            QuorumOutput::BecomeLeader(epoch) => begin_epoch(node, epoch),
            QuorumOutput::HighWatermark(end) => commit(node, end),
        }
    }
}

fn save_state(node: &mut Node, state: QuorumState) {
    let voters = node.controller().quorum.voters().0.iter().copied();
    let content = quorum_state::write(state, voters);
    let command = Command::WriteFile { path: quorum_state::PATH.to_owned(), content };
    node.kernel.disk(command, |node, done| match done {
        Ok(Done::FileWritten) => tell(node, QuorumInput::StateSaved),
        Ok(other) => unreachable!("WriteFile gives FileWritten, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
}

/// Writes the leader change record, the first of the epoch.
fn begin_epoch(node: &mut Node, epoch: LeaderEpoch) {
    node.kernel.event(Event::QuorumLeader { epoch: epoch.0 });
    let quorum = &node.controller().quorum;
    let base = quorum.log_end();
    let voters = quorum.voters().0.iter().copied();
    let bytes = metadata_log::leader_change(
        base,
        epoch,
        node.kernel.unix_ms(),
        node.config.node_id,
        voters,
    );
    let span = BatchSpan { base, end: base.next(), epoch };
    append(node, bytes, DecodedBatch { span, records: Vec::new() });
}

/// Writes the controller's decisions as one batch.
pub(super) fn append_records(node: &mut Node, base: Offset, records: Vec<Record>) {
    let quorum = &node.controller().quorum;
    debug_assert_eq!(base, quorum.log_end(), "the controller decides at the end of the log");
    let epoch = quorum.state().epoch;
    let bytes = metadata_log::records_batch(base, epoch, node.kernel.unix_ms(), &records);
    let end = Offset(base.0 + records.len() as i64);
    append(node, bytes, DecodedBatch { span: BatchSpan { base, end, epoch }, records });
}

/// Rule 70: what the leader appended counts once it is synced.
fn append(node: &mut Node, batches: Bytes, batch: DecodedBatch) {
    let end = batch.span.end;
    node.controller_mut().backlog.push(batch);
    let command = Command::Append { log: metadata_log::LOG, batches, sync: true };
    node.kernel.disk(command, move |node, done| match done {
        Ok(Done::Appended { .. }) => tell(node, QuorumInput::Synced(end)),
        Ok(other) => unreachable!("Append gives Appended, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
    tell(node, QuorumInput::Appended(end));
}

/// Applies what is committed, answers who waited for it, and lets the fetchers know.
fn commit(node: &mut Node, end: Offset) {
    let role = node.controller_mut();
    let mut delta = Delta::default();
    let applied = role.backlog.commit(end, &mut role.committed, &mut delta);
    let applied = match applied {
        Ok(applied) => applied,
        Err(error) => return give_up(node, &error),
    };
    events::tell(node, &applied);
    if node.broker.is_some() {
        metadata_follower::apply_local(node, &applied);
    }
    active::committed(node, end);
    fetch::retry(node);
}
