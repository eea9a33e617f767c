//! Opens the metadata log and reads all of it when a node starts.

use highwater_log::store::LogState;
use highwater_log::{Command, Completion, Done, StoreError};
use highwater_node_core::replica::EpochCache;
use highwater_node_core::types::{LeaderEpoch, Offset};
use thiserror::Error;

use super::{DIR, DecodedBatch, LOG, MetadataLogError, decode, log_config};
use crate::event::Event;
use crate::node::Node;
use crate::startup::give_up;

/// How much is read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The log as it was found.
#[derive(Debug)]
pub(crate) struct OpenedLog {
    /// Where it ends.
    pub(crate) log_end: Offset,
    /// The epochs in it.
    pub(crate) epochs: EpochCache,
    /// All of its batches.
    pub(crate) batches: Vec<DecodedBatch>,
}

/// What runs once the log is read.
type Then = Box<dyn FnOnce(&mut Node, OpenedLog) + Send>;

/// Why the log could not be read.
#[derive(Debug, Error)]
enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Content(#[from] MetadataLogError),
}

/// Opens the log, creates it if need be, and reads it; if that fails, the process ends.
pub(crate) fn open(node: &mut Node, then: impl FnOnce(&mut Node, OpenedLog) + Send + 'static) {
    let (dir, config) = (DIR.to_owned(), log_config());
    let command = Command::Open { log: LOG, dir, topic_id: None, config };
    let then = Box::new(then);
    node.kernel.disk(command, |node, done| match done {
        Ok(Done::Opened(opened)) => {
            if let Some(reason) = opened.cut_reason {
                let (log_end, cut_bytes) = (opened.state.log_end, opened.cut_bytes);
                let partition = DIR.to_owned();
                let event = Event::Recovered { partition, log_end, cut_bytes, reason };
                node.kernel.event(event);
            }
            read(node, opened.state.log_start, opened.state, Vec::new(), then)
        }
        Ok(other) => unreachable!("Open gives Opened, not {other:?}"),
        Err(error) => give_up(node, &error),
    });
}

fn read(node: &mut Node, from: i64, state: LogState, mut batches: Vec<DecodedBatch>, then: Then) {
    let end = state.log_end;
    if from >= end {
        let start =
            |e: &highwater_log::store::EpochStart| (LeaderEpoch(e.epoch), Offset(e.start_offset));
        let epochs = EpochCache::new(state.epochs.iter().map(start).collect());
        return then(node, OpenedLog { log_end: Offset(end), epochs, batches });
    }
    let (max_bytes, at_least_one) = (CHUNK_BYTES, true);
    let command = Command::Read { log: LOG, from, upto: end, max_bytes, at_least_one };
    node.kernel.disk(command, move |node, done| match batches_of(done) {
        Ok(more) => {
            let next = more.last().map_or(end, |last| last.span.end.0);
            batches.extend(more);
            read(node, next, state, batches, then);
        }
        Err(error) => give_up(node, &error),
    });
}

fn batches_of(done: Completion) -> Result<Vec<DecodedBatch>, OpenError> {
    match done? {
        Done::Records { batches } => Ok(decode(batches)?),
        other => unreachable!("Read gives Records, not {other:?}"),
    }
}
