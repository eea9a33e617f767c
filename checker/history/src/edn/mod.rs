//! Histories of Jepsen's Kafka workload, EDN: read operation by operation, and written.
//!
//! A file is a row of maps, or one list of them. Its top level is split into operations as it is
//! read, so that never more than one of them is held.

mod forms;
mod json;
mod parse;
mod read;
mod scan;
mod token;
mod value;
mod write;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub(crate) use self::write::{Keys, NoNumber, write_event};
use self::{
    forms::{Forms, Found, NoForm},
    parse::Broken,
};
use crate::{
    columns::Columns,
    event::Event,
    format::{FormatError, not_text},
    packed::Text,
};

/// Reads a history; ends at the file's end.
pub(crate) struct EdnReader {
    file: PathBuf,
    is_cut: bool,
    forms: Forms,
    /// How many events were read.
    read: u64,
    line: u64,
    dropped: Option<u64>,
    /// Whether something was wrong, behind which nothing is read.
    has_failed: bool,
    /// What was wrong and is still to be told.
    untold: Option<FormatError>,
}

impl EdnReader {
    /// Reads a history of which events may be known to be missing where it ends.
    pub(crate) fn of(file: &Path, is_cut: bool, text: Text) -> Self {
        let forms = Forms::of(text);
        Self {
            file: file.to_owned(),
            is_cut,
            forms,
            read: 0,
            line: 0,
            dropped: None,
            has_failed: false,
            untold: None,
        }
    }

    /// The line that the last event began on, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The line from which on the history is missing, where its file was cut.
    pub(crate) fn dropped_line(&self) -> Option<u64> {
        self.dropped
    }

    /// The next event; none behind what was wrong.
    pub(crate) fn read_next(&mut self) -> Result<Option<Event>, FormatError> {
        if self.has_failed {
            return self.untold.take().map_or(Ok(None), Err);
        }
        let next = self.next_event();
        self.has_failed = next.is_err();
        next
    }

    /// So many events, or those that are left, or none at the end. What stands before an error
    /// comes first.
    pub(crate) fn next_block(&mut self, events: usize) -> Result<Option<Columns>, FormatError> {
        let mut columns = Columns::default();
        while columns.len() < events {
            match self.read_next() {
                Ok(Some(event)) => columns.push(self.line, event),
                Ok(None) => break,
                Err(error) if columns.is_empty() => return Err(error),
                Err(error) => {
                    self.untold = Some(error);
                    break;
                }
            }
        }
        Ok((!columns.is_empty()).then_some(columns))
    }

    fn next_event(&mut self) -> Result<Option<Event>, FormatError> {
        let found = match self.forms.find() {
            Ok(found) => found,
            Err(NoForm::Io(said)) => return Err(FormatError::io(&self.file, said)),
            Err(NoForm::Wrong(why)) => return Err(self.wrong(self.forms.line(), &why)),
        };
        match found {
            Found::Whole(length) => self.event(length).map(Some),
            Found::Incomplete(length) => {
                self.check_cut(length)?;
                self.dropped.get_or_insert(self.forms.line());
                Ok(None)
            }
            Found::End => {
                if self.is_cut || self.forms.is_cut() {
                    self.dropped.get_or_insert(self.forms.line());
                }
                Ok(None)
            }
        }
    }

    fn event(&mut self, length: usize) -> Result<Event, FormatError> {
        self.line = self.forms.line();
        let text = self.text(length)?;
        let form = parse::parse(text).map_err(|broken| self.broken(text, broken))?;
        let event = read::event(form, self.read).map_err(|why| self.wrong(self.line, &why))?;
        self.forms.pass(length);
        self.read += 1;
        Ok(event)
    }

    /// Whether what the file ends within is the beginning of an operation. A packing that is
    /// damaged may end early too.
    fn check_cut(&self, length: usize) -> Result<(), FormatError> {
        let bytes = self.forms.bytes(length);
        // A character may have been cut too.
        let text = std::str::from_utf8(bytes).or_else(|error| match error.error_len() {
            None => Ok(std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()),
            Some(_) => Err(self.wrong(self.forms.line(), &not_text(error))),
        })?;
        match parse::parse(text) {
            Err(broken) if broken.why.is_some() && broken.at < text.len() => {
                Err(self.broken(text, broken))
            }
            _ => Ok(()),
        }
    }

    fn text(&self, length: usize) -> Result<&str, FormatError> {
        std::str::from_utf8(self.forms.bytes(length))
            .map_err(|error| self.wrong(self.forms.line(), &not_text(error)))
    }

    /// What is wrong with an operation's text, at the line where it is.
    fn broken(&self, text: &str, broken: Broken) -> FormatError {
        let before = &text.as_bytes()[..broken.at.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u64;
        let why = broken.why.as_deref().unwrap_or("it ends too early");
        self.wrong(self.forms.line() + line, why)
    }

    /// What is wrong at a line.
    pub(crate) fn wrong(&self, line: u64, why: &str) -> FormatError {
        FormatError::Line { file: self.file.clone(), line, why: why.to_owned() }
    }
}
