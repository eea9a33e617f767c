//! Reads a history event by event: JSON lines or Jepsen's EDN, plain or packed by suffix.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

pub use crate::jsonl::{Block, HISTORY_FORMAT};
use crate::{
    edn::EdnReader,
    event::Event,
    format::FormatError,
    jsonl::JsonlReader,
    packed::{self, Text},
    stream::standard_input,
};

/// How a history is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryFormat {
    /// JSON lines.
    Jsonl,
    /// Jepsen's EDN.
    Edn,
}

impl HistoryFormat {
    /// What a file's name says: `.jsonl` or `.edn`, also before `.gz` or `.zst`.
    pub fn named(file: &Path) -> Option<Self> {
        let packed = file.extension().is_some_and(|suffix| suffix == "gz" || suffix == "zst");
        let name = if packed { Path::new(file.file_stem()?) } else { file };
        match name.extension().and_then(OsStr::to_str) {
            Some("jsonl") => Some(Self::Jsonl),
            Some("edn") => Some(Self::Edn),
            _ => None,
        }
    }
}

/// A history file, or a history that comes in as a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFile {
    /// Where it is; of a stream, what messages call it.
    pub path: PathBuf,
    /// How it is written.
    pub format: HistoryFormat,
    /// Whether events are known to be missing where it ends, as when it was cut at a line's end.
    pub is_cut: bool,
    /// Whether it comes in on standard input, packed or not as its first bytes say. It can be read
    /// once.
    pub is_stream: bool,
}

impl HistoryFile {
    /// The history that comes in on standard input.
    pub fn standard_input(format: HistoryFormat) -> Self {
        Self { path: "standard input".into(), format, is_cut: false, is_stream: true }
    }

    fn text(&self) -> Result<Text, FormatError> {
        let text = if self.is_stream { standard_input() } else { packed::open(&self.path) };
        text.map_err(|said| FormatError::io(&self.path, said))
    }
}

impl From<&Path> for HistoryFile {
    fn from(path: &Path) -> Self {
        let format = HistoryFormat::named(path).unwrap_or(HistoryFormat::Jsonl);
        Self { path: path.to_owned(), format, is_cut: false, is_stream: false }
    }
}

impl From<&PathBuf> for HistoryFile {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<&HistoryFile> for HistoryFile {
    fn from(file: &HistoryFile) -> Self {
        file.clone()
    }
}

/// Reads a history in order; ends at the file's end.
pub struct HistoryReader(Input);

enum Input {
    Jsonl(JsonlReader),
    Edn(EdnReader),
}

impl HistoryReader {
    /// Opens a history; names that end in `.gz` and `.zst` are unpacked.
    pub fn open(file: impl Into<HistoryFile>) -> Result<Self, FormatError> {
        let file = file.into();
        let text = file.text()?;
        Ok(Self(match file.format {
            HistoryFormat::Jsonl => Input::Jsonl(JsonlReader::of(file.path, file.is_cut, text)),
            HistoryFormat::Edn => Input::Edn(EdnReader::of(&file.path, file.is_cut, text)),
        }))
    }

    /// How many events there are from here on; an incomplete last one is none. JSON lines are
    /// counted unparsed.
    pub fn count(self) -> Result<u64, FormatError> {
        match self.0 {
            Input::Jsonl(reader) => reader.count(),
            Input::Edn(mut reader) => {
                let mut events = 0;
                while reader.read_next()?.is_some() {
                    events += 1;
                }
                Ok(events)
            }
        }
    }

    /// The line that the last event stood on, counted from 1.
    pub fn line(&self) -> u64 {
        match &self.0 {
            Input::Jsonl(reader) => reader.line(),
            Input::Edn(reader) => reader.line(),
        }
    }

    /// The number of the line from which on the history is missing: an incomplete last one, which
    /// was dropped, or the one after the last.
    pub fn dropped_line(&self) -> Option<u64> {
        match &self.0 {
            Input::Jsonl(reader) => reader.dropped_line(),
            Input::Edn(reader) => reader.dropped_line(),
        }
    }

    /// About so many bytes of whole JSON lines, unparsed, or none at the end: for those who want a
    /// part of each event and want it fast. A line that cannot be parsed goes to
    /// [`HistoryReader::broken`].
    pub fn next_block(&mut self, bytes: usize) -> Result<Option<Block>, FormatError> {
        match &mut self.0 {
            Input::Jsonl(reader) => reader.next_block(bytes),
            Input::Edn(reader) => {
                let (block, failed) = Block::of_events(bytes, || {
                    Ok(reader.read_next()?.map(|event| (reader.line(), event)))
                });
                match (block, failed) {
                    (None, Some(error)) => Err(error),
                    (block, failed) => {
                        // What stands before it comes first.
                        failed.into_iter().for_each(|error| reader.fail_next(error));
                        Ok(block)
                    }
                }
            }
        }
    }

    /// What it means that a line is no event: an error, unless it is the incomplete last one, which
    /// is dropped and ends the history.
    pub fn broken(&mut self, line: u64, text: &str, why: String) -> Result<(), FormatError> {
        match &mut self.0 {
            Input::Jsonl(reader) => reader.broken(line, text, why),
            Input::Edn(reader) => Err(reader.wrong(line, &why)),
        }
    }
}

impl Iterator for HistoryReader {
    type Item = Result<Event, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.0 {
            Input::Jsonl(reader) => reader.read_next(),
            Input::Edn(reader) => reader.read_next(),
        };
        next.transpose()
    }
}
