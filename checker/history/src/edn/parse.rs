//! One EDN form as a tree, borrowed from its text.
//!
//! Only what a history can hold is told apart: vectors, lists and sets are lists, symbols and
//! characters are texts, tags are passed over. The pairs of a map keep their order.

use std::borrow::Cow;

use super::token::{ends_token, is_blank, number, shortened, unescaped};

/// How deep a form may nest, as deep as JSON is read: what is converted can be read again.
pub(super) const MAX_DEPTH: usize = 127;

/// How many forms one form may hold, since the smallest take a hundred times their text: a poll of
/// 300,000 records is read.
pub(super) const MAX_FORMS: usize = 1_000_000;

/// An EDN value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Edn<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    /// A whole number that only fits without a sign.
    Big(u64),
    Float(f64),
    /// A string, symbol, character, fraction or pattern.
    Text(Cow<'a, str>),
    /// A keyword, without its colon.
    Word(&'a str),
    List(Vec<Edn<'a>>),
    Map(Vec<(Edn<'a>, Edn<'a>)>),
}

/// Why a text is no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// The byte before which it is wrong.
    pub at: usize,
    /// What is wrong; none where the text only ends too early.
    pub why: Option<String>,
}

/// Parses a text that is one form, blanks and comments aside.
pub(super) fn parse(text: &str) -> Result<Edn<'_>, Broken> {
    let mut parser = Parser { text, at: 0, forms: 0 };
    let form = parser.form(0)?.ok_or_else(|| parser.ends_or_closes())?;
    parser.skip_blank();
    match parser.peek() {
        None => Ok(form),
        Some(_) => Err(parser.wrong("something follows the form")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// How many forms were begun.
    forms: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, why: impl Into<String>) -> Broken {
        Broken { at: self.at, why: Some(why.into()) }
    }

    fn ends(&self) -> Broken {
        Broken { at: self.at, why: None }
    }

    /// What is wrong where a form has to stand and none does.
    fn ends_or_closes(&self) -> Broken {
        match self.text[self.at..].chars().next() {
            Some(closing) => self.wrong(format!("`{closing}` closes what is not open")),
            None => self.ends(),
        }
    }

    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b';' => {
                    self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at)
                }
                byte if is_blank(byte) => self.at += 1,
                _ => break,
            }
        }
    }

    /// The next form; none where the text ends or something closes.
    fn form(&mut self, depth: usize) -> Result<Option<Edn<'a>>, Broken> {
        if depth > MAX_DEPTH {
            return Err(self.wrong(format!("it nests deeper than {MAX_DEPTH} levels")));
        }
        loop {
            self.skip_blank();
            let byte = match self.peek() {
                None | Some(b')' | b']' | b'}') => return Ok(None),
                Some(byte) => byte,
            };
            self.forms += 1;
            if self.forms > MAX_FORMS {
                return Err(self.wrong(format!("an operation holds more than {MAX_FORMS} values")));
            }
            let form = match byte {
                b'[' => self.list(b']', depth)?,
                b'(' => self.list(b')', depth)?,
                b'{' => self.map(depth)?,
                b'"' => self.string()?,
                b'\\' => self.character()?,
                b'#' => match self.dispatch(depth)? {
                    Some(form) => form,
                    None => continue,
                },
                _ => self.token()?,
            };
            return Ok(Some(form));
        }
    }

    /// The form that has to stand here.
    fn inner(&mut self, depth: usize) -> Result<Edn<'a>, Broken> {
        self.form(depth + 1)?.ok_or_else(|| self.ends_or_closes())
    }

    fn close(&mut self, closing: u8) -> Result<(), Broken> {
        match self.peek() {
            Some(byte) if byte == closing => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.ends_or_closes()),
        }
    }

    fn list(&mut self, closing: u8, depth: usize) -> Result<Edn<'a>, Broken> {
        self.at += 1;
        let mut items = Vec::new();
        while let Some(item) = self.form(depth + 1)? {
            items.push(item);
        }
        self.close(closing)?;
        Ok(Edn::List(items))
    }

    fn map(&mut self, depth: usize) -> Result<Edn<'a>, Broken> {
        self.at += 1;
        let mut pairs = Vec::new();
        while let Some(key) = self.form(depth + 1)? {
            let Some(value) = self.form(depth + 1)? else {
                return Err(match self.peek() {
                    Some(_) => self.wrong("the last key of a map lacks its value"),
                    None => self.ends(),
                });
            };
            pairs.push((key, value));
        }
        self.close(b'}')?;
        Ok(Edn::Map(pairs))
    }

    /// What begins with `#`; none where it only discards something.
    fn dispatch(&mut self, depth: usize) -> Result<Option<Edn<'a>>, Broken> {
        let next = self.text.as_bytes().get(self.at + 1).copied();
        match next.ok_or_else(|| self.ends())? {
            b'{' => {
                self.at += 1;
                self.list(b'}', depth).map(Some)
            }
            b'_' => {
                self.at += 2;
                self.inner(depth).map(|_discarded| None)
            }
            b'"' => {
                self.at += 1;
                self.pattern().map(Some)
            }
            // A number without a finite value, the name of a variable.
            b'#' | b'\'' => Ok(Some(Edn::Text(self.word().into()))),
            byte if ends_token(byte) => Err(self.wrong("`#` names no tag")),
            _ => {
                self.word();
                self.inner(depth).map(Some)
            }
        }
    }

    /// The text up to where a token ends; at least one byte of it is passed.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(ends_token).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn token(&mut self) -> Result<Edn<'a>, Broken> {
        let word = self.word();
        let bytes = word.as_bytes();
        let after_sign = usize::from(matches!(bytes[0], b'+' | b'-'));
        if bytes.get(after_sign).is_some_and(u8::is_ascii_digit) {
            let why = || format!("`{}` is no number", shortened(word));
            return number(word).ok_or_else(|| self.wrong(why()));
        }
        Ok(match word {
            "nil" => Edn::Nil,
            "true" => Edn::Bool(true),
            "false" => Edn::Bool(false),
            _ => match word.strip_prefix(':') {
                Some("") => return Err(self.wrong("a keyword lacks its name")),
                Some(name) => Edn::Word(name),
                None => Edn::Text(word.into()),
            },
        })
    }

    fn character(&mut self) -> Result<Edn<'a>, Broken> {
        let rest = &self.text[self.at + 1..];
        let first = rest.chars().next().ok_or_else(|| self.ends())?.len_utf8();
        let length = rest.bytes().skip(first).position(ends_token).unwrap_or(rest.len() - first);
        self.at += 1 + first + length;
        let name = &rest[..first + length];
        Ok(Edn::Text(Cow::Borrowed(match name {
            "newline" => "\n",
            "return" => "\r",
            "space" => " ",
            "tab" => "\t",
            other => other,
        })))
    }

    /// What stands between quotes from here on, and whether it has escapes.
    fn quoted(&mut self) -> Result<(&'a str, bool), Broken> {
        let start = self.at + 1;
        let mut escapes = false;
        let mut at = start;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escapes = true;
                    at += 2;
                }
                Some(_) => at += 1,
                None => return Err(Broken { at: bytes.len(), why: None }),
            }
        }
        self.at = at + 1;
        Ok((&self.text[start..at], escapes))
    }

    fn pattern(&mut self) -> Result<Edn<'a>, Broken> {
        self.quoted().map(|(raw, _)| Edn::Text(raw.into()))
    }

    fn string(&mut self) -> Result<Edn<'a>, Broken> {
        let start = self.at;
        Ok(Edn::Text(match self.quoted()? {
            (raw, false) => Cow::Borrowed(raw),
            (raw, true) => Cow::Owned(unescaped(raw).map_err(|escape| Broken {
                at: start,
                why: Some(format!("`\\{escape}` is no escape of a string")),
            })?),
        }))
    }
}
