//! Standard error, for people who may stop reading.

use std::{fmt, io::Write};

/// Prints a line; a reader that has gone is no failure of ours.
pub fn line(text: fmt::Arguments<'_>) {
    let _reader_gone = writeln!(std::io::stderr(), "{text}");
}
