//! Opens the metadata log, reads it, and lets the quorum begin.

use highwater_log::{Command, Done};
use highwater_node_core::quorum::{QuorumInput, QuorumState};

use super::{log, quorum_state};
use crate::metadata_log::{self, OpenedLog};
use crate::node::Node;
use crate::startup::give_up;

/// Reads the quorum's state, then the log.
pub(super) fn start(node: &mut Node) {
    let command = Command::ReadFile { path: quorum_state::PATH.to_owned() };
    node.kernel.disk(command, |node, done| match done {
        Ok(Done::File(None)) => open(node, QuorumState::default()),
        Ok(Done::File(Some(content))) => match quorum_state::read(&content) {
            Ok(saved) => open(node, saved),
            Err(why) => give_up(node, &why),
        },
        Ok(other) => unreachable!("ReadFile gives File, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
}

fn open(node: &mut Node, saved: QuorumState) {
    metadata_log::open(node, move |node, opened| {
        let OpenedLog { log_end, epochs, batches } = opened;
        for batch in batches {
            node.controller_mut().backlog.push(batch);
        }
        log::tell(node, QuorumInput::Start { saved, log_end, epochs });
    });
}
