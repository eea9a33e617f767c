//! Splits a file into its operations: the maps at its top level, or in the one list that it is.
//!
//! Strings, characters, comments, tags and discarded forms are told apart; what stands within a map
//! is left to its parser. Only the map at hand is held in memory.

use std::io;

use super::{
    scan::Scan,
    token::{ends_token, is_blank},
};
use crate::packed::{Damage, Text};

/// The longest operation that is read; how many forms it may hold is limited beside that.
const MAX_FORM_BYTES: usize = 16 << 20;

/// A form within the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A whole form of so many bytes.
    Whole(usize),
    /// The file ends within a form, so many bytes after its start.
    Incomplete(usize),
    /// Nothing is left.
    End,
}

/// Why there is no next form.
#[derive(Debug)]
pub(super) enum NoForm {
    Io(io::Error),
    /// What stands there is no operation.
    Wrong(String),
}

/// Where a file stands in the list that it is, if it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// Nothing has been read.
    Unknown,
    /// Operations stand at the top level.
    Nothing,
    /// A list is open that this closes.
    Open(u8),
    Closed,
}

/// Reads a file map by map.
pub(super) struct Forms {
    input: Text,
    /// What was read and is not passed yet.
    buffer: Vec<u8>,
    /// Where in the buffer the reader is.
    at: usize,
    line: u64,
    around: Around,
    /// Forms to come that do not count.
    discards: usize,
    /// Whether a tag was passed whose form comes next.
    is_tagged: bool,
    has_ended: bool,
    is_cut: bool,
}

impl Forms {
    pub(super) fn of(input: Text) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            at: 0,
            line: 1,
            around: Around::Unknown,
            discards: 0,
            is_tagged: false,
            has_ended: false,
            is_cut: false,
        }
    }

    /// The line that the next byte stands on, counted from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Whether the file ended before its list or its packing did, or where a form was to come.
    pub(super) fn is_cut(&self) -> bool {
        let is_within = matches!(self.around, Around::Open(_));
        self.is_cut || is_within || self.is_tagged || self.discards > 0
    }

    /// The next bytes.
    pub(super) fn bytes(&self, length: usize) -> &[u8] {
        &self.buffer[self.at..self.at + length]
    }

    /// Goes on behind the next bytes.
    pub(super) fn pass(&mut self, length: usize) {
        let newlines = self.bytes(length).iter().filter(|byte| **byte == b'\n').count();
        self.line += newlines as u64;
        self.at += length;
    }

    /// Goes to the next operation, which stands in [`Forms::bytes`] until it is passed.
    pub(super) fn find(&mut self) -> Result<Found, NoForm> {
        loop {
            self.skip_blank()?;
            let Some(byte) = self.byte(0)? else { return Ok(Found::End) };
            if self.around == Around::Closed {
                return Err(wrong("something follows the end of the list of operations"));
            }
            if byte == b'#' {
                self.pass_prefix()?;
                continue;
            }
            self.is_tagged = false;
            match byte {
                _ if self.discards > 0 && !b")]}".contains(&byte) => {
                    let length = match self.measure()? {
                        Found::Whole(length) => length,
                        unfinished => return Ok(unfinished),
                    };
                    self.pass(length);
                    self.discards -= 1;
                }
                b'{' => {
                    if self.around == Around::Unknown {
                        self.around = Around::Nothing;
                    }
                    return self.measure();
                }
                b'[' | b'(' if self.around == Around::Unknown => {
                    self.around = Around::Open(if byte == b'[' { b']' } else { b')' });
                    self.pass(1);
                }
                _ if self.around == Around::Open(byte) => {
                    self.around = Around::Closed;
                    self.pass(1);
                }
                _ => return Err(wrong("an operation was expected, a map such as {:index 0, ...}")),
            }
        }
    }

    /// Passes a tag, which says nothing here, or the sign that the next form does not count.
    fn pass_prefix(&mut self) -> Result<(), NoForm> {
        match self.byte(1)? {
            Some(b'_') => {
                self.discards += 1;
                self.pass(2);
            }
            Some(byte) if ends_token(byte) => {
                return Err(wrong("an operation was expected, not what begins with `#`"));
            }
            _ => {
                let length = self.token()?;
                self.pass(length);
                self.is_tagged = true;
            }
        }
        Ok(())
    }

    fn skip_blank(&mut self) -> Result<(), NoForm> {
        let mut in_comment = false;
        while let Some(byte) = self.byte(0)? {
            match byte {
                b'\n' => in_comment = false,
                b';' => in_comment = true,
                byte if in_comment || is_blank(byte) => {}
                _ => break,
            }
            self.line += u64::from(byte == b'\n');
            self.at += 1;
        }
        Ok(())
    }

    /// How long the token is that begins here.
    fn token(&mut self) -> Result<usize, NoForm> {
        // The character after a backslash belongs to it, whatever it is.
        let mut length = if self.byte(0)? == Some(b'\\') { 2 } else { 1 };
        while self.byte(length)?.is_some_and(|byte| !ends_token(byte)) {
            length = self.longer(length, 1)?;
        }
        Ok(length.min(self.buffer.len() - self.at))
    }

    /// How long the form is that begins here.
    fn measure(&mut self) -> Result<Found, NoForm> {
        if self.byte(0)?.is_some_and(|byte| !b"([{\"".contains(&byte)) {
            return self.token().map(Found::Whole);
        }
        let mut scan = Scan::default();
        loop {
            if let Some(length) = scan.go_on(&self.buffer[self.at..]) {
                return Ok(Found::Whole(self.longer(length, 0)?));
            }
            self.longer(scan.at, 0)?;
            if self.has_ended {
                return Ok(Found::Incomplete(self.buffer.len() - self.at));
            }
            self.fill()?;
        }
    }

    fn longer(&self, length: usize, by: usize) -> Result<usize, NoForm> {
        match length + by {
            longer if longer > MAX_FORM_BYTES => {
                Err(wrong(&format!("an operation is longer than {} MiB", MAX_FORM_BYTES >> 20)))
            }
            longer => Ok(longer),
        }
    }

    /// A byte so far from here, which is read if it was not; none where the file ends before it.
    fn byte(&mut self, ahead: usize) -> Result<Option<u8>, NoForm> {
        loop {
            if let Some(byte) = self.buffer.get(self.at + ahead) {
                return Ok(Some(*byte));
            }
            if self.has_ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    #[cold]
    fn fill(&mut self) -> Result<(), NoForm> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let read = match self.input.fill_buf() {
            Ok(chunk) => {
                self.buffer.extend_from_slice(chunk);
                chunk.len()
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => match Damage::of(error) {
                Damage::Cut(_) => {
                    self.is_cut = true;
                    0
                }
                Damage::Other(error) => return Err(NoForm::Io(error)),
            },
        };
        self.input.consume(read);
        self.has_ended = read == 0;
        Ok(())
    }
}

fn wrong(why: &str) -> NoForm {
    NoForm::Wrong(why.to_owned())
}
