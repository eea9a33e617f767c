//! Reads a history on a thread of its own, so that parsing and judging overlap.

use std::{
    ops::ControlFlow,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use crate::{event::Event, format::FormatError, reader::HistoryReader};

/// Events that change threads together.
const BATCH_EVENTS: usize = 512;
/// Batches that may wait.
const WAITING_BATCHES: usize = 4;

/// Where reading ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTo<T> {
    /// What the taker broke off with, if it did.
    pub broke_off: Option<T>,
    /// The number of the line from which on the history is missing, if any is.
    pub dropped_line: Option<u64>,
}

type Batch = Vec<(u64, Event)>;

/// Gives every event with its line to `take`, in order, until it breaks off or the history ends.
pub fn read_ahead<T>(
    reader: HistoryReader,
    mut take: impl FnMut(u64, Event) -> ControlFlow<T>,
) -> Result<ReadTo<T>, FormatError> {
    thread::scope(|scope| {
        let (send, receive) = sync_channel::<Batch>(WAITING_BATCHES);
        let parser = scope.spawn(move || parse(reader, &send));
        let broken = receive.into_iter().flatten().try_for_each(|(line, event)| take(line, event));
        let parsed = parser.join().expect("parsing does not panic");
        // How far the parser came by then depends on the threads, and so does what it found there.
        if let Some(broke_off) = broken.break_value() {
            return Ok(ReadTo { broke_off: Some(broke_off), dropped_line: None });
        }
        Ok(ReadTo { broke_off: None, dropped_line: parsed? })
    })
}

/// Parses until the history ends or nobody takes any more.
fn parse(mut reader: HistoryReader, send: &SyncSender<Batch>) -> Result<Option<u64>, FormatError> {
    loop {
        let mut batch = Vec::with_capacity(BATCH_EVENTS);
        let mut broken = None;
        while batch.len() < BATCH_EVENTS {
            match reader.next() {
                Some(Ok(event)) => batch.push((reader.line(), event)),
                Some(Err(error)) => {
                    broken = Some(error);
                    break;
                }
                None => break,
            }
        }
        let ended = batch.len() < BATCH_EVENTS;
        let taken = send.send(batch).is_ok();
        if let Some(error) = broken {
            return Err(error);
        }
        if !taken || ended {
            return Ok(reader.dropped_line());
        }
    }
}
