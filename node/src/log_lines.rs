//! The node's log: one JSON line an event on standard error, written by a thread of its own.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{panic, thread};

use highwater_broker::Event;
use serde::Serialize;

use crate::log_queue::LogQueue;

/// Bytes of lines that may wait for a reader.
const QUEUE_BYTES: usize = 4 << 20;
/// How long an ending process waits for a reader.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

static NODE: AtomicI32 = AtomicI32::new(-1);
static QUEUE: LogQueue = LogQueue::new(QUEUE_BYTES);

#[derive(Serialize)]
struct Line<'a> {
    time: u64,
    node: i32,
    #[serde(flatten)]
    event: &'a Event,
}

/// Says which node all further lines are from.
pub fn set_node(id: i32) {
    NODE.store(id, Ordering::Relaxed);
}

/// Starts the thread that writes.
pub fn start() -> std::io::Result<()> {
    let gap = |dropped| {
        let text = format!("{dropped} lines dropped here: standard error was not read in time");
        line(&Event::Warning { text })
    };
    flush_before_panics();
    let writer = move || QUEUE.write_all(&mut std::io::stderr(), &gap);
    thread::Builder::new().name("log".to_owned()).spawn(writer).map(|_| ())
}

/// The lines that led to a panic stand before its message, and a panic waits for a reader no longer
/// than any other end.
fn flush_before_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if flush() {
            report(info);
        }
    }));
}

/// Writes one line, without waiting for whoever reads.
pub fn write(event: &Event) {
    QUEUE.push(&line(event));
}

/// Writes a warning.
pub fn warn(text: impl Into<String>) {
    write(&Event::Warning { text: text.into() });
}

/// Waits for what was written before the process ends, for a bounded time. False when nobody reads.
pub fn flush() -> bool {
    QUEUE.flush(FLUSH_LIMIT)
}

fn line(event: &Event) -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    let line = Line { time, node: NODE.load(Ordering::Relaxed), event };
    let mut text = serde_json::to_string(&line).expect("an event can be written as JSON");
    text.push('\n');
    text
}
