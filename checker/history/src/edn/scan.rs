//! Finds where a form ends, piece by piece, without a look at what it says.

/// How far the end of a form was looked for, and within what.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) at: usize,
    /// Delimiters that are open.
    open: usize,
    within: Within,
    /// Whether the next byte is escaped.
    escaped: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Within {
    #[default]
    Code,
    String,
    Comment,
}

impl Scan {
    /// Goes on to the end of the form, or of the bytes; says how long the form is.
    pub(super) fn go_on(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1;
            if std::mem::take(&mut self.escaped) {
                continue;
            }
            match (&self.within, byte) {
                (Within::Code | Within::String, b'\\') => self.escaped = true,
                (Within::Code, b'"') => self.within = Within::String,
                (Within::Code, b';') => self.within = Within::Comment,
                (Within::Code, b'(' | b'[' | b'{') => self.open += 1,
                (Within::Code, b')' | b']' | b'}') => self.open = self.open.saturating_sub(1),
                (Within::String, b'"') | (Within::Comment, b'\n') => self.within = Within::Code,
                _ => continue,
            }
            if self.open == 0 && self.within == Within::Code && !self.escaped {
                return Some(self.at);
            }
        }
        None
    }
}
