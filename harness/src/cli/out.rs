//! Standard output, for programs and for people who stop reading.

use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

use super::Exit;

/// Why standard output took no more; what is printed after that is of no use to anybody.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints a text.
pub(super) fn print(text: &str) {
    let mut out = io::stdout().lock();
    note(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Remembers that something could not be printed; a reader that has gone is no failure of ours.
pub(super) fn note(printed: io::Result<()>) {
    if let Err(error) = printed
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// The exit of a command whose output was lost: nobody may take it for done.
pub(super) fn end(exit: Exit) -> Exit {
    match &*FAILED.lock().unwrap_or_else(PoisonError::into_inner) {
        None => exit,
        Some(error) => {
            crate::stderr::line(format_args!("highwater: cannot write standard output: {error}"));
            exit.worse(Exit::Harness)
        }
    }
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
