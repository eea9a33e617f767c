//! Reads a history operation by operation.

use std::{collections::BTreeMap, ops::ControlFlow};

use highwater_history::{
    Event, FormatError,
    ahead::read_ahead,
    event::{EventKind, Process},
    reader::HistoryReader,
    types::ProcessId,
};

use super::unit::Unit;
use crate::History;

/// What a history is made of.
pub(super) enum Piece {
    Operation(Box<Unit>),
    /// An event of somebody who is no client.
    Other(Box<Event>),
}

/// Gives every operation as it ends, those that never end at last, and every event that is of no
/// client.
pub(super) fn each(history: &History, mut take: impl FnMut(Piece)) -> Result<(), FormatError> {
    let mut running: BTreeMap<ProcessId, Event> = BTreeMap::new();
    let mut sort = |event: Event| match (&event.process, event.kind) {
        (Process::Client(process), EventKind::Invoke) => {
            running.insert(*process, event);
        }
        (Process::Client(process), _) => {
            if let Some(invoke) = running.remove(process) {
                take(Piece::Operation(Box::new(Unit::new(invoke, Some(event)))));
            }
        }
        _ => take(Piece::Other(Box::new(event))),
    };
    match history {
        History::Events(events) => events.iter().cloned().for_each(&mut sort),
        History::File(file) => {
            read_ahead(HistoryReader::open(file)?, |columns| {
                columns.rows().for_each(|row| sort(columns.event(&row)));
                ControlFlow::<()>::Continue(())
            })?;
        }
    }
    for invoke in running.into_values() {
        take(Piece::Operation(Box::new(Unit::new(invoke, None))));
    }
    Ok(())
}
