//! Reads a history event by event, plain or packed by suffix.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
};

use crate::{
    event::Event,
    format::{FormatError, check_version},
    lines::open_packed,
};

/// The history format that this program reads and writes.
pub const HISTORY_FORMAT: u64 = 1;

/// Reads a history in order; ends at the file's end.
pub struct HistoryReader {
    file: PathBuf,
    input: Box<dyn BufRead + Send>,
    text: String,
    line: u64,
    dropped: Option<u64>,
}

impl HistoryReader {
    /// Opens a history: JSON lines, `.gz` and `.zst` unpacked.
    pub fn open(file: &Path) -> Result<Self, FormatError> {
        let input = open_packed(file).map_err(|source| FormatError::io(file, source))?;
        Ok(Self { file: file.to_owned(), input, text: String::new(), line: 0, dropped: None })
    }

    /// The line that the last event stood on, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The number of an incomplete last line, which was dropped.
    pub fn dropped_line(&self) -> Option<u64> {
        self.dropped
    }

    fn read_next(&mut self) -> Result<Option<Event>, FormatError> {
        loop {
            self.text.clear();
            let read = self.input.read_line(&mut self.text);
            if read.map_err(|source| FormatError::io(&self.file, source))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if self.line == 1 && self.is_header()? {
                continue;
            }
            match serde_json::from_str(&self.text) {
                Ok(event) => return Ok(Some(event)),
                Err(_) if !self.text.ends_with('\n') => {
                    self.dropped = Some(self.line);
                    return Ok(None);
                }
                Err(error) => {
                    let why = error.to_string();
                    return Err(FormatError::Line {
                        file: self.file.clone(),
                        line: self.line,
                        why,
                    });
                }
            }
        }
    }

    /// A history may begin with a line that says its version and is no event.
    fn is_header(&self) -> Result<bool, FormatError> {
        #[derive(serde::Deserialize)]
        struct Header {
            format: u64,
        }
        match serde_json::from_str::<Header>(&self.text) {
            Ok(header) => {
                check_version(&self.file, "history", header.format, HISTORY_FORMAT)?;
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }
}

impl Iterator for HistoryReader {
    type Item = Result<Event, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_next().transpose()
    }
}
