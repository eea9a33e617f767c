//! Reads a history on all cores: one thread reads blocks, some parse them, and the caller takes
//! their events in order, as columns.

use std::{
    collections::BTreeMap,
    iter,
    ops::ControlFlow,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use crate::{
    columns::Columns,
    format::FormatError,
    reader::{Block, Broken, HistoryReader},
};

/// Text that changes threads together, about.
const BLOCK_BYTES: usize = 128 << 10;
/// A block that is larger takes several turns.
const TURN_BYTES: usize = 512 << 10;
/// Blocks that may be under way for each parser: read, parsed, or early.
const BLOCKS_UNDER_WAY: usize = 4;

/// Where reading ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadTo<T> {
    /// What the taker broke off with, if it did.
    pub broke_off: Option<T>,
    /// The number of the line from which on the history is missing, if any is.
    pub dropped_line: Option<u64>,
}

/// A block to parse.
struct Given {
    /// The block's number.
    nth: u64,
    block: Block,
    /// Columns that were taken, whose memory is used again.
    spare: Columns,
    /// How many turns it takes.
    turns: usize,
}

/// A block as its events.
struct Parsed {
    /// The block's number.
    nth: u64,
    columns: Columns,
    /// What ended it: something that is no event.
    broken: Option<Broken>,
    /// How many turns it took.
    turns: usize,
}

/// Gives all events to `take`, in order, until it breaks off or the history ends.
///
/// # Errors
/// When the history cannot be read, or something in it is no event.
pub fn read_ahead<T>(
    reader: HistoryReader,
    mut take: impl FnMut(&Columns) -> ControlFlow<T>,
) -> Result<ReadTo<T>, FormatError> {
    let parsers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (give, blocks) = sync_channel::<Given>(parsers);
        let (send, parsed) = sync_channel::<Parsed>(parsers);
        let (again, turns) = channel::<Columns>();
        let turns_in_all = BLOCKS_UNDER_WAY * parsers;
        for _ in 0..turns_in_all {
            again.send(Columns::default()).expect("the other end is here");
        }
        let reading = scope.spawn(move || read(reader, (&turns, turns_in_all), &give));
        let blocks = Arc::new(Mutex::new(blocks));
        for _ in 0..parsers {
            let (blocks, send) = (Arc::clone(&blocks), send.clone());
            scope.spawn(move || parse(&blocks, &send));
        }
        // Only parsers hold them: whoever waits for the other side learns when it is gone.
        drop((blocks, send));
        let ended = take_in_order(&parsed, &again, &mut take);
        drop((parsed, again));
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
    again: &Sender<Columns>,
    take: &mut impl FnMut(&Columns) -> ControlFlow<T>,
) -> ControlFlow<Ended<T>> {
    let mut early: BTreeMap<u64, Parsed> = BTreeMap::new();
    let mut next = 0;
    for block in parsed {
        early.insert(block.nth, block);
        while let Some(Parsed { columns, broken, turns, .. }) = early.remove(&next) {
            next += 1;
            if let ControlFlow::Break(broke_off) = take(&columns) {
                return ControlFlow::Break(Ended::BrokeOff(broke_off));
            }
            if let Some(broken) = broken {
                return ControlFlow::Break(Ended::Broken(broken));
            }
            // Memory of a large block is not kept.
            let (columns, more) = match turns {
                1 => (columns, 0),
                _ => (Columns::default(), turns - 1),
            };
            let turns = iter::once(columns).chain(iter::repeat_with(Columns::default).take(more));
            // At the end nobody waits for a turn any more.
            turns.for_each(|turn| drop(again.send(turn)));
        }
    }
    ControlFlow::Continue(())
}

/// Reads until the history ends or nobody parses any more; each block waits for columns that were
/// taken, so that not all of the file gathers behind one long line. A large block waits for
/// several, up to all of them: so many large ones are never under way together.
fn read(
    mut reader: HistoryReader,
    (turns, turns_in_all): (&Receiver<Columns>, usize),
    give: &SyncSender<Given>,
) -> (HistoryReader, Result<(), FormatError>) {
    for nth in 0.. {
        let Ok(spare) = turns.recv() else { break };
        match reader.next_block(BLOCK_BYTES) {
            Ok(Some(block)) => {
                let takes = (block.bytes() / TURN_BYTES).clamp(1, turns_in_all);
                let waits = (1..takes).all(|_| turns.recv().is_ok());
                if !waits || give.send(Given { nth, block, spare, turns: takes }).is_err() {
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
fn parse(blocks: &Mutex<Receiver<Given>>, send: &SyncSender<Parsed>) {
    loop {
        let next = blocks.lock().expect("nobody panics while a block is taken").recv();
        let Ok(Given { nth, block, spare: mut columns, turns }) = next else { return };
        let broken = block.fill(&mut columns);
        if send.send(Parsed { nth, columns, broken, turns }).is_err() {
            return;
        }
    }
}
