//! Reading a history in every way that there is: all ways tell the same.

use std::{ops::ControlFlow, path::Path};

use highwater_history::{
    Event,
    ahead::read_ahead,
    convert::convert,
    reader::{HistoryFile, HistoryFormat, HistoryReader},
};

/// What a history says.
#[derive(Debug, PartialEq)]
pub struct Told {
    /// Each event with its line.
    pub events: Vec<(u64, Event)>,
    /// From which line on it is missing, or what is wrong behind the events.
    pub end: Result<Option<u64>, String>,
}

/// What a file says, which is the same event by event, in columns, and counted.
pub fn read(file: &HistoryFile) -> Told {
    let strict = strictly(file);
    let columns = in_columns(file);
    assert_eq!(strict.end, columns.end, "event by event, and in columns");
    assert!(strict.events == columns.events, "{:?} {:?}", strict.events, columns.events);
    if strict.end.is_ok() {
        let count = HistoryReader::open(file).and_then(HistoryReader::count);
        assert_eq!(count.expect("what can be read can be counted"), strict.events.len() as u64);
    }
    lines_are_events(file, &strict);
    strict
}

fn strictly(file: &HistoryFile) -> Told {
    let mut events = Vec::new();
    let mut reader = match HistoryReader::open(file) {
        Ok(reader) => reader,
        Err(error) => return Told { events, end: Err(error.to_string()) },
    };
    let end = loop {
        match reader.next() {
            Some(Ok(event)) => events.push((reader.line(), event)),
            Some(Err(error)) => break Err(error.to_string()),
            None => break Ok(reader.dropped_line()),
        }
    };
    Told { events, end }
}

fn in_columns(file: &HistoryFile) -> Told {
    let mut events = Vec::new();
    let read = HistoryReader::open(file).and_then(|reader| {
        read_ahead(reader, |columns| {
            events.extend(columns.rows().map(|row| (row.head.line, columns.event(&row))));
            ControlFlow::<()>::Continue(())
        })
    });
    let end = read.map(|read| read.dropped_line).map_err(|error| error.to_string());
    Told { events, end }
}

/// Bytes that are taken together as lines; few, so that there are several blocks.
const LINES_BYTES: usize = 1 << 10;

/// Whoever takes a history as JSON lines gets the same events.
fn lines_are_events(file: &HistoryFile, told: &Told) {
    let Ok(mut reader) = HistoryReader::open(file) else { return };
    let mut events = told.events.iter();
    while let Ok(Some(block)) = reader.next_lines(LINES_BYTES) {
        for (line, text) in block.lines() {
            let Some(expected) = events.next() else { return };
            let event = serde_json::from_str(text).expect("what was read as an event is one");
            assert_eq!(&(line, event), expected);
        }
    }
}

/// Writes a history in another format and says what stands there: the same events.
pub fn converted(from: &HistoryFile, told: &Told, to: &Path) -> HistoryFile {
    let format = HistoryFormat::named(to).expect("its name has a format");
    let done = convert(from, to, format).expect("what can be read can be written");
    assert_eq!(done.events, told.events.len() as u64);
    let file = HistoryFile::from(to);
    let again = read(&file);
    let dropped = again.end.as_ref().expect("what was written can be read").is_some();
    assert_eq!(told.end.as_ref().map(Option::is_some), Ok(dropped));
    let events = |told: &Told| told.events.iter().map(|(_, event)| event.clone()).collect();
    let (before, after): (Vec<_>, Vec<_>) = (events(told), events(&again));
    assert!(before == after, "{before:?} {after:?}");
    file
}
