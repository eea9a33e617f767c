//! Standard output, for programs and for people who stop reading.

use std::io::{self, Write};

use serde::Serialize;

/// Prints a text; a reader that has gone is no failure of ours.
pub(super) fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _reader_gone = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints a line.
pub(super) fn line(text: &str) {
    print(&format!("{text}\n"));
}

/// Prints a value as one line of JSON.
pub(super) fn json_line(value: &impl Serialize) {
    line(&serde_json::to_string(value).expect("what we print is plain JSON"));
}

/// Prints a value as JSON.
pub(super) fn json(value: &impl Serialize) {
    line(&serde_json::to_string_pretty(value).expect("what we print is plain JSON"));
}
