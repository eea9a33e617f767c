//! Reads a history on all cores: one thread reads lines, some parse them, and the caller takes the
//! events in order.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use crate::{
    event::Event,
    format::FormatError,
    reader::{Block, HistoryReader},
};

/// Text that changes threads together, about.
const BLOCK_BYTES: usize = 128 << 10;
/// Blocks that may wait to be parsed, and as many to be taken, for each parser.
const WAITING_BLOCKS: usize = 2;

/// Where reading ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTo<T> {
    /// What the taker broke off with, if it did.
    pub broke_off: Option<T>,
    /// The number of the line from which on the history is missing, if any is.
    pub dropped_line: Option<u64>,
}

/// A block as its events, each with its line.
struct Parsed {
    /// The block's number.
    nth: u64,
    events: Vec<(u64, Event)>,
    /// What ended it: a line that is no event.
    broken: Option<Broken>,
}

/// A line that is no event.
struct Broken {
    line: u64,
    text: String,
    why: String,
}

/// Gives every event with its line to `take`, in order, until it breaks off or the history ends.
pub fn read_ahead<T>(
    reader: HistoryReader,
    mut take: impl FnMut(u64, Event) -> ControlFlow<T>,
) -> Result<ReadTo<T>, FormatError> {
    let parsers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (give, blocks) = sync_channel::<(u64, Block)>(WAITING_BLOCKS * parsers);
        let (send, parsed) = sync_channel::<Parsed>(WAITING_BLOCKS * parsers);
        let reading = scope.spawn(move || read(reader, &give));
        let blocks = Arc::new(Mutex::new(blocks));
        for _ in 0..parsers {
            let (blocks, send) = (Arc::clone(&blocks), send.clone());
            scope.spawn(move || parse(&blocks, &send));
        }
        // Only parsers hold them: whoever waits for the other side learns when it is gone.
        drop((blocks, send));
        let ended = take_in_order(&parsed, &mut take);
        drop(parsed);
        let (mut reader, failed) = reading.join().expect("reading does not panic");
        match ended {
            // How far the reader came by then, and what it found there, hangs on the threads.
            ControlFlow::Break(Ended::BrokeOff(broke_off)) => {
                return Ok(ReadTo { broke_off: Some(broke_off), dropped_line: None });
            }
            ControlFlow::Break(Ended::Broken(broken)) => {
                reader.broken(broken.line, &broken.text, broken.why)?;
            }
            ControlFlow::Continue(()) => failed?,
        }
        Ok(ReadTo { broke_off: None, dropped_line: reader.dropped_line() })
    })
}

/// Why no more events are taken.
enum Ended<T> {
    BrokeOff(T),
    Broken(Broken),
}

fn take_in_order<T>(
    parsed: &Receiver<Parsed>,
    take: &mut impl FnMut(u64, Event) -> ControlFlow<T>,
) -> ControlFlow<Ended<T>> {
    let mut early: BTreeMap<u64, Parsed> = BTreeMap::new();
    let mut next = 0;
    for block in parsed {
        early.insert(block.nth, block);
        while let Some(Parsed { events, broken, .. }) = early.remove(&next) {
            next += 1;
            for (line, event) in events {
                if let ControlFlow::Break(broke_off) = take(line, event) {
                    return ControlFlow::Break(Ended::BrokeOff(broke_off));
                }
            }
            if let Some(broken) = broken {
                return ControlFlow::Break(Ended::Broken(broken));
            }
        }
    }
    ControlFlow::Continue(())
}

/// Reads until the history ends or nobody parses any more.
fn read(
    mut reader: HistoryReader,
    give: &SyncSender<(u64, Block)>,
) -> (HistoryReader, Result<(), FormatError>) {
    for nth in 0.. {
        match reader.next_block(BLOCK_BYTES) {
            Ok(Some(block)) => {
                if give.send((nth, block)).is_err() {
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => return (reader, Err(error)),
        }
    }
    (reader, Ok(()))
}

/// Parses until nothing more comes or nobody takes any more.
fn parse(blocks: &Mutex<Receiver<(u64, Block)>>, send: &SyncSender<Parsed>) {
    loop {
        let next = blocks.lock().expect("nobody panics while a block is taken").recv();
        let Ok((nth, block)) = next else { return };
        let (mut events, mut broken) = (Vec::new(), None);
        for (line, text) in block.lines() {
            match serde_json::from_str(text) {
                Ok(event) => events.push((line, event)),
                Err(error) => {
                    let (text, why) = (text.to_owned(), error.to_string());
                    broken = Some(Broken { line, text, why });
                    break;
                }
            }
        }
        if send.send(Parsed { nth, events, broken }).is_err() {
            return;
        }
    }
}
