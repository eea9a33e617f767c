//! Walks the bytes of one message by its schema.

use super::schema::{Field, Kind, Message};
use crate::codec::DecodeError;
use crate::varint;

/// A walk under way; it copies and reserves nothing.
pub(super) struct Walk<'a> {
    rest: &'a [u8],
    version: i16,
    flexible: bool,
    limit: usize,
    elements: usize,
}

impl<'a> Walk<'a> {
    /// A walk over a message of this version, of at most `limit` elements.
    pub(super) fn new(bytes: &'a [u8], version: i16, limit: usize) -> Walk<'a> {
        Walk { rest: bytes, version, flexible: false, limit, elements: 0 }
    }

    /// Checks the whole message. Bytes behind it are allowed, as Kafka allows them.
    pub(super) fn message(mut self, message: &Message) -> Result<(), DecodeError> {
        self.flexible = self.version >= message.flexible_from;
        self.fields(&message.fields)
    }

    fn fields(&mut self, fields: &[Field]) -> Result<(), DecodeError> {
        let version = self.version;
        for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
            self.value(&field.kind)?;
        }
        if self.flexible { self.tagged(fields) } else { Ok(()) }
    }

    fn value(&mut self, kind: &Kind) -> Result<(), DecodeError> {
        match kind {
            Kind::Fixed(length) => self.skip(*length),
            Kind::Text => match self.length(2)? {
                Some(length) => self.skip(length),
                None => Ok(()),
            },
            Kind::Bytes => match self.length(4)? {
                Some(length) => self.skip(length),
                None => Ok(()),
            },
            Kind::Array(item) => self.array(item),
            Kind::Struct { nullable: true, .. } if self.is_null()? => Ok(()),
            Kind::Struct { fields, .. } => self.fields(fields),
        }
    }

    fn array(&mut self, item: &Kind) -> Result<(), DecodeError> {
        let Some(count) = self.length(4)? else { return Ok(()) };
        self.count(count)?;
        match item {
            Kind::Fixed(length) => self.skip(length.saturating_mul(count)),
            _ => (0..count).try_for_each(|_| self.value(item)),
        }
    }

    /// A block of tagged fields: known ones hold exactly what their schema says.
    fn tagged(&mut self, fields: &[Field]) -> Result<(), DecodeError> {
        let count = self.varint()? as usize;
        self.count(count)?;
        for _ in 0..count {
            let tag = self.varint()?;
            let length = self.varint()? as usize;
            let value = self.take(length)?;
            let known = |field: &&Field| field.tag == Some(tag) && field.is_in(self.version);
            if let Some(field) = fields.iter().find(known) {
                let behind = std::mem::replace(&mut self.rest, value);
                self.value(&field.kind)?;
                if !self.rest.is_empty() {
                    return Err(DecodeError::Truncated);
                }
                self.rest = behind;
            }
        }
        Ok(())
    }

    /// A length or count; `None` is null. The width is that of versions that are not flexible.
    fn length(&mut self, width: usize) -> Result<Option<usize>, DecodeError> {
        if self.flexible {
            return Ok((self.varint()? as usize).checked_sub(1));
        }
        let bytes = self.take(width)?;
        let length = match *bytes {
            [a, b] => i32::from(i16::from_be_bytes([a, b])),
            [a, b, c, d] => i32::from_be_bytes([a, b, c, d]),
            _ => unreachable!("a length has two or four bytes"),
        };
        match length {
            -1 => Ok(None),
            _ => usize::try_from(length).map(Some).map_err(|_| DecodeError::Truncated),
        }
    }

    /// The byte before a structure that may be null: 1 is there, -1 is null.
    fn is_null(&mut self) -> Result<bool, DecodeError> {
        match self.take(1)?[0] as i8 {
            1 => Ok(false),
            -1 => Ok(true),
            _ => Err(DecodeError::Truncated),
        }
    }

    fn varint(&mut self) -> Result<u32, DecodeError> {
        varint::get(&mut self.rest).ok_or(DecodeError::Truncated)
    }

    fn skip(&mut self, length: usize) -> Result<(), DecodeError> {
        self.take(length).map(drop)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Counts elements before they are walked, so that an absurd count costs no time.
    fn count(&mut self, count: usize) -> Result<(), DecodeError> {
        if count > self.rest.len() {
            return Err(DecodeError::Truncated);
        }
        self.elements = self.elements.saturating_add(count);
        if self.elements > self.limit {
            return Err(DecodeError::TooManyElements { limit: self.limit });
        }
        Ok(())
    }
}
