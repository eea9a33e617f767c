//! Reads a history event by event: JSON lines or Jepsen's EDN, plain or packed by suffix.

use std::{
    ffi::OsStr,
    io::BufRead,
    path::{Path, PathBuf},
};

pub use crate::jsonl::{HISTORY_FORMAT, LineBlock};
use crate::{
    columns::{
        Columns,
        file::{BinaryReader, MAGIC, PackedBlock},
    },
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
    /// Columns, packed.
    Binary,
}

impl HistoryFormat {
    /// What a file's name says: `.jsonl` or `.edn`, also before `.gz` or `.zst`, or `.hwh`.
    pub fn named(file: &Path) -> Option<Self> {
        let packed = file.extension().is_some_and(|suffix| suffix == "gz" || suffix == "zst");
        let name = if packed { Path::new(file.file_stem()?) } else { file };
        match name.extension().and_then(OsStr::to_str) {
            Some("jsonl") => Some(Self::Jsonl),
            Some("edn") => Some(Self::Edn),
            Some("hwh") => Some(Self::Binary),
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

    /// What it holds, and whether it is binary.
    fn text(&self) -> Result<(Text, bool), FormatError> {
        let text = if self.is_stream {
            standard_input()
        } else {
            packed::open(&self.path).map(|mut text| {
                // A packed file fails where it is read on.
                let is_binary = !packed::is_packed(&self.path) && begins_binary(&mut text);
                (text, is_binary)
            })
        };
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

/// Bytes of an event, about.
const EVENT_BYTES: usize = 256;

/// Whole events as they are read.
pub(crate) enum Block {
    /// JSON lines.
    Lines(LineBlock),
    /// Columns, packed.
    Packed(PackedBlock),
    /// Columns as they are.
    Parsed(Columns),
}

/// Something that is no event.
pub(crate) struct Broken {
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) why: String,
}

impl Block {
    /// About how many bytes of text or columns it is, unpacked.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.bytes(),
            Self::Packed(block) => block.unpacked_bytes(),
            Self::Parsed(columns) => columns.len() * EVENT_BYTES,
        }
    }

    /// Its events, in columns whose memory is used again; says what ended them before its end.
    pub(crate) fn fill(self, columns: &mut Columns) -> Option<Broken> {
        columns.clear();
        match self {
            Self::Lines(lines) => lines.fill(columns).err(),
            Self::Parsed(parsed) => {
                *columns = parsed;
                None
            }
            Self::Packed(block) => block.unpack(columns).err().map(|why| {
                let (line, text) = (block.first_line(), String::new());
                Broken { line, text, why }
            }),
        }
    }
}

fn begins_binary(text: &mut Text) -> bool {
    // What cannot be read is told by who reads on.
    text.fill_buf().is_ok_and(|first| first.starts_with(MAGIC.as_bytes()))
}

enum Input {
    Jsonl(JsonlReader),
    Edn(EdnReader),
    Binary(BinaryReader),
}

impl HistoryReader {
    /// Opens a history; names that end in `.gz` and `.zst` are unpacked. What begins as a binary
    /// one is read as such, whatever its name.
    pub fn open(file: impl Into<HistoryFile>) -> Result<Self, FormatError> {
        let file = file.into();
        let (text, is_binary) = file.text()?;
        let format = if is_binary { HistoryFormat::Binary } else { file.format };
        Ok(Self(match format {
            HistoryFormat::Jsonl => Input::Jsonl(JsonlReader::of(file.path, file.is_cut, text)),
            HistoryFormat::Edn => Input::Edn(EdnReader::of(&file.path, file.is_cut, text)),
            HistoryFormat::Binary => Input::Binary(BinaryReader::of(file.path, file.is_cut, text)?),
        }))
    }

    /// How many events there are from here on; an incomplete last one is none. JSON lines and
    /// blocks are counted unparsed.
    pub fn count(self) -> Result<u64, FormatError> {
        match self.0 {
            Input::Jsonl(reader) => reader.count(),
            Input::Binary(reader) => reader.count(),
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
            Input::Binary(reader) => reader.line(),
        }
    }

    /// The number of the line from which on the history is missing: an incomplete last one, which
    /// was dropped, or the one after the last.
    pub fn dropped_line(&self) -> Option<u64> {
        match &self.0 {
            Input::Jsonl(reader) => reader.dropped_line(),
            Input::Edn(reader) => reader.dropped_line(),
            Input::Binary(reader) => reader.dropped_line(),
        }
    }

    /// About so many bytes of whole events, or none at the end. What cannot be parsed goes to
    /// [`HistoryReader::broken`].
    pub(crate) fn next_block(&mut self, bytes: usize) -> Result<Option<Block>, FormatError> {
        match &mut self.0 {
            Input::Jsonl(reader) => Ok(reader.next_block(bytes)?.map(Block::Lines)),
            Input::Binary(reader) => Ok(reader.next_block()?.map(Block::Packed)),
            Input::Edn(reader) => {
                let events = bytes / EVENT_BYTES;
                reader.next_block(events.max(1)).map(|block| block.map(Block::Parsed))
            }
        }
    }

    /// About so many bytes of whole events as JSON lines, or none at the end: for those who want a
    /// part of each event and want it fast. A line that cannot be parsed goes to
    /// [`HistoryReader::broken`].
    pub fn next_lines(&mut self, bytes: usize) -> Result<Option<LineBlock>, FormatError> {
        let columns = match self.next_block(bytes)? {
            None => return Ok(None),
            Some(Block::Lines(lines)) => return Ok(Some(lines)),
            Some(block) => {
                let mut columns = Columns::default();
                if let Some(broken) = block.fill(&mut columns) {
                    self.broken(broken.line, &broken.text, broken.why)?;
                    return Ok(None);
                }
                columns
            }
        };
        Ok(Some(LineBlock::of_columns(&columns)))
    }

    /// What it means that a line is no event: an error, unless it is the incomplete last one, which
    /// is dropped and ends the history.
    pub fn broken(&mut self, line: u64, text: &str, why: String) -> Result<(), FormatError> {
        match &mut self.0 {
            Input::Jsonl(reader) => reader.broken(line, text, why),
            Input::Edn(reader) => Err(reader.wrong(line, &why)),
            Input::Binary(reader) => Err(reader.wrong(why)),
        }
    }
}

impl Iterator for HistoryReader {
    type Item = Result<Event, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.0 {
            Input::Jsonl(reader) => reader.read_next(),
            Input::Edn(reader) => reader.read_next(),
            Input::Binary(reader) => reader.read_next(),
        };
        next.transpose()
    }
}
