//! Standard error, for people who may stop reading.

use std::{fmt, io::Write};

/// Prints a line at once, so that lines of several threads stay whole; a reader that has gone is no
/// failure of ours.
pub fn line(text: fmt::Arguments<'_>) {
    let line = format!("{text}\n");
    let _reader_gone = std::io::stderr().write_all(line.as_bytes());
}
