//! Reads a history of JSON lines event by event.

use std::path::PathBuf;

use crate::{
    columns::Columns,
    event::Event,
    format::{FormatError, check_kind, check_version, goes_on},
    packed::{LineReader, Text},
    reader::Broken,
};

/// The history format that this program reads and writes.
pub const HISTORY_FORMAT: u64 = 1;
/// The kind that a history's header may say.
const HISTORY: &str = "history";

/// Reads a history in order; ends at the file's end.
pub(crate) struct JsonlReader {
    file: PathBuf,
    is_cut: bool,
    input: LineReader,
    line: u64,
    dropped: Option<u64>,
    /// What is wrong behind the last block.
    untold: Option<FormatError>,
}

impl JsonlReader {
    /// Reads a history of which events may be known to be missing where it ends.
    pub(crate) fn of(file: PathBuf, is_cut: bool, text: Text) -> Self {
        Self { file, is_cut, input: LineReader::of(text), line: 0, dropped: None, untold: None }
    }

    /// How many events there are from here on, counted by lines and unparsed; an incomplete last
    /// line is none.
    pub(crate) fn count(mut self) -> Result<u64, FormatError> {
        let first = u64::from(self.next_line()?.is_some());
        if first > 0 && self.input.is_last() {
            return Ok(self.ends_whole());
        }
        let rest = self.input.count().map_err(|source| FormatError::io(&self.file, source))?;
        Ok(first + rest + self.ends_whole())
    }

    /// 1 where the last line lacks nothing but its end.
    fn ends_whole(&self) -> u64 {
        u64::from(serde_json::from_str::<Event>(self.input.text()).is_ok())
    }

    /// The line that the last event stood on, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The number of the line from which on the history is missing: an incomplete last one, which
    /// was dropped, or the one after the last.
    pub(crate) fn dropped_line(&self) -> Option<u64> {
        self.dropped
    }

    /// About so many bytes of whole lines, unparsed, or none at the end: for those who want a part
    /// of each event and want it fast. A line that cannot be parsed goes to
    /// [`JsonlReader::broken`]; what stands before an error comes first.
    pub(crate) fn next_block(&mut self, bytes: usize) -> Result<Option<LineBlock>, FormatError> {
        self.next_block_while(bytes, |_| true)
    }

    /// As [`JsonlReader::next_block`], but no more lines once `goes_on` is false of the bytes that
    /// were read so far.
    pub(crate) fn next_block_while(
        &mut self,
        bytes: usize,
        goes_on: impl Fn(u64) -> bool,
    ) -> Result<Option<LineBlock>, FormatError> {
        let mut text = String::with_capacity(bytes);
        let mut first_line = None;
        if let Some(error) = self.untold.take() {
            return Err(error);
        }
        while text.len() < bytes {
            match self.next_line() {
                Ok(Some(line)) => text.push_str(line),
                Ok(None) => break,
                Err(error) if first_line.is_none() => return Err(error),
                Err(error) => {
                    self.untold = Some(error);
                    break;
                }
            }
            first_line.get_or_insert(self.line);
            if !goes_on(self.input.bytes_read()) {
                break;
            }
        }
        Ok(first_line.map(|first_line| LineBlock { first_line, text, came_from: None }))
    }

    fn next_line(&mut self) -> Result<Option<&str>, FormatError> {
        loop {
            let line = self.line + 1;
            let wrong = |said| FormatError::reading(&self.file, line, said);
            if !self.input.advance().map_err(wrong)? {
                if self.is_cut || self.input.is_cut() {
                    self.dropped.get_or_insert(line);
                }
                return Ok(None);
            }
            self.line = line;
            if self.line > 1 || !self.is_header()? {
                return Ok(Some(self.input.text()));
            }
        }
    }

    /// What it means that a line is no event: an error, unless it is the incomplete last one, which
    /// is dropped and ends the history.
    pub(crate) fn broken(&mut self, line: u64, text: &str, why: String) -> Result<(), FormatError> {
        if text.ends_with('\n') {
            let why = if text.trim().is_empty() { "it is empty" } else { &why };
            return Err(FormatError::line(&self.file, line, why));
        }
        if line == 1 && !goes_on(text.as_bytes()) {
            let why = "no line of JSON begins so; is the history packed, or of another form?";
            return Err(FormatError::line(&self.file, line, why));
        }
        self.dropped = Some(line);
        Ok(())
    }

    /// The next event.
    pub(crate) fn read_next(&mut self) -> Result<Option<Event>, FormatError> {
        let Some(text) = self.next_line()? else { return Ok(None) };
        match serde_json::from_str(text) {
            Ok(event) => Ok(Some(event)),
            Err(error) => {
                let text = self.input.text().to_owned();
                self.broken(self.line, &text, error.to_string()).map(|()| None)
            }
        }
    }

    /// A history may begin with a line that says its version and is no event.
    fn is_header(&self) -> Result<bool, FormatError> {
        #[derive(serde::Deserialize)]
        struct Header {
            format: serde_json::Value,
            kind: Option<serde_json::Value>,
            index: Option<serde::de::IgnoredAny>,
        }
        match serde_json::from_str::<Header>(self.input.text()) {
            Ok(Header { format, kind, index: None }) => {
                let kind = kind.unwrap_or(HISTORY.into());
                let kind = kind.as_str().map_or_else(|| kind.to_string(), str::to_owned);
                check_kind(&self.file, &kind, HISTORY)?;
                let format = format.as_u64().ok_or_else(|| {
                    let why = format!("field `format`: {format}, expected a number");
                    FormatError::line(&self.file, 1, &why)
                })?;
                check_version(&self.file, HISTORY, format, HISTORY_FORMAT)?;
                Ok(true)
            }
            Ok(_) | Err(_) => Ok(false),
        }
    }
}

/// Whole lines of a history; only the file's very last one may lack its end.
pub struct LineBlock {
    first_line: u64,
    text: String,
    /// The lines that events came from which were not JSON there, and may not follow each other.
    came_from: Option<Vec<u64>>,
}

impl LineBlock {
    /// Adds its events to columns, until a line is none.
    pub(crate) fn fill(&self, columns: &mut Columns) -> Result<(), Broken> {
        for (line, text) in self.lines() {
            match serde_json::from_str(text) {
                Ok(event) => columns.push(line, event),
                Err(error) => {
                    let (text, why) = (text.to_owned(), error.to_string());
                    return Err(Broken { line, text, why });
                }
            }
        }
        Ok(())
    }

    /// Events as JSON, with the lines that they came from.
    pub(crate) fn of_columns(columns: &Columns) -> Self {
        let (mut text, mut came_from) = (String::new(), Vec::with_capacity(columns.len()));
        for row in columns.rows() {
            let event = columns.event(&row);
            text.push_str(&serde_json::to_string(&event).expect("an event is JSON"));
            text.push('\n');
            came_from.push(row.head.line);
        }
        Self {
            first_line: came_from.first().copied().unwrap_or(1),
            text,
            came_from: Some(came_from),
        }
    }

    /// How long all lines are together.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Each line with its number, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let number = |(nth, text)| match &self.came_from {
            Some(lines) => (lines[nth], text),
            None => (self.first_line + nth as u64, text),
        };
        self.text.split_inclusive('\n').enumerate().map(number)
    }
}
