//! Follows a history that somebody still writes: its events come as they are written.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    columns::Columns,
    format::FormatError,
    growing::Growing,
    jsonl::JsonlReader,
    packed::is_packed,
    reader::{Broken, HistoryFile, HistoryFormat},
    stream::unbuffered,
};

/// Reads a history of JSON lines while it is written.
pub struct Follower {
    reader: JsonlReader,
    /// How many bytes the reader was given so far.
    given: Arc<AtomicU64>,
    ended: bool,
}

/// Text that is taken at once, at most, about.
const BLOCK_BYTES: usize = 1 << 20;
const BUFFER_BYTES: usize = 128 << 10;

impl Follower {
    /// Opens a file that grows, or a stream.
    ///
    /// # Errors
    /// When it cannot be opened, or is written in a form that shows nothing before its end.
    pub fn open(file: &HistoryFile) -> Result<Self, FormatError> {
        let path = &file.path;
        if file.format != HistoryFormat::Jsonl || (!file.is_stream && is_packed(path)) {
            let why = "only plain JSON lines can be followed; judge this history at its end";
            return Err(FormatError::document(path, why));
        }
        let source = source(file).map_err(|said| FormatError::io(path, said))?;
        let given = Arc::new(AtomicU64::new(0));
        let counted = Counted { source, given: Arc::clone(&given) };
        let text = Box::new(BufReader::with_capacity(BUFFER_BYTES, counted));
        Ok(Self { reader: JsonlReader::of(path.clone(), false, text), given, ended: false })
    }

    /// Waits until there is more, and adds what is there to columns; false at the end, when nobody
    /// writes any more.
    ///
    /// # Errors
    /// When it cannot be read, or a line is no event.
    pub fn next(&mut self, columns: &mut Columns) -> Result<bool, FormatError> {
        if self.ended {
            return Ok(false);
        }
        let given = &self.given;
        let is_there = |taken: u64| taken < given.load(Ordering::Relaxed);
        let Some(lines) = self.reader.next_block_while(BLOCK_BYTES, is_there)? else {
            return Ok(false);
        };
        if let Err(Broken { line, text, why }) = lines.fill(columns) {
            self.reader.broken(line, &text, why)?;
            self.ended = true;
        }
        Ok(true)
    }

    /// The line from which on the history is missing: an incomplete last one.
    pub fn dropped_line(&self) -> Option<u64> {
        self.reader.dropped_line()
    }
}

type Source = Box<dyn Read + Send>;

/// What ends when nobody writes it any more. Of a stream and a pipe the system tells.
fn source(file: &HistoryFile) -> io::Result<Source> {
    let path = &file.path;
    Ok(match file.is_stream {
        true => Box::new(unbuffered()?),
        false if path.metadata()?.is_file() => Box::new(Growing::open(path)?),
        false => Box::new(File::open(path)?),
    })
}

/// Counts what it gives.
struct Counted {
    source: Source,
    given: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.given.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
