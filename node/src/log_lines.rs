//! The node's log: one JSON line an event on standard error.

use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use highwater_broker::Event;
use serde::Serialize;

static NODE: AtomicI32 = AtomicI32::new(-1);

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

/// Writes one line. A reader that has gone away does not stop the node.
pub fn write(event: &Event) {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    let line = Line { time, node: NODE.load(Ordering::Relaxed), event };
    let mut text = serde_json::to_string(&line).expect("an event can be written as JSON");
    text.push('\n');
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes a warning.
pub fn warn(text: impl Into<String>) {
    write(&Event::Warning { text: text.into() });
}
