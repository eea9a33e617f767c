//! Histories of Jepsen's, read and written: what is taken, what is refused, what comes back.

mod hostile;
mod round_trip;
mod shapes;

use std::{
    io::{BufReader, Cursor},
    path::Path,
};

use super::{
    EdnReader,
    write::{Keys, write_event},
};
use crate::event::Event;

/// What a reader says of a text: the events, where it was cut; or why it is refused.
fn read(text: impl AsRef<[u8]>) -> Result<(Vec<Event>, Option<u64>), String> {
    read_in_chunks(text, 1 << 16)
}

fn read_in_chunks(
    text: impl AsRef<[u8]>,
    bytes: usize,
) -> Result<(Vec<Event>, Option<u64>), String> {
    let input = BufReader::with_capacity(bytes, Cursor::new(text.as_ref().to_vec()));
    let mut reader = EdnReader::of(Path::new("h.edn"), false, Box::new(input));
    let mut events = Vec::new();
    while let Some(event) = reader.read_next().map_err(|error| error.to_string())? {
        events.push(event);
    }
    Ok((events, reader.dropped_line()))
}

/// Events as the lines that they are in our own format.
fn lines(text: &str) -> Vec<String> {
    let (events, cut) = read(text).expect("the history is read");
    assert_eq!(cut, None, "{text}");
    events.iter().map(|event| serde_json::to_string(event).expect("an event is JSON")).collect()
}

fn refusal(text: &str) -> String {
    read(text).expect_err("the history is refused")
}

fn written(event: &Event, keys: Keys) -> String {
    let mut out = String::new();
    write_event(&mut out, event, keys).expect("keys are as they are said to be");
    out
}
