//! Random messages that are legal by their schema, and how to break them: for tests.

use bytes::{BufMut, Bytes, BytesMut};
use rand::{Rng, RngExt};

use crate::guard::schema::{self, Field, Kind, Message};
use crate::header::RequestHeader;
use crate::messages::{ApiKey, StrBytes};
use crate::varint;

/// Texts that a message may hold: of them an image for tests may have topics.
const TEXTS: &[&str] = &["", "alpha", "beta", "ghost", "a/b", "1", "PLAINTEXT", "\u{e9}t\u{e9}"];

/// A whole legal request frame of this API and version, with small and extreme numbers in it.
pub fn request(api: ApiKey, version: i16, random: &mut impl Rng) -> Bytes {
    let client_id = random.random_bool(0.5).then(|| StrBytes::from_static_str("sample"));
    let header = RequestHeader { api, version, correlation_id: random.random(), client_id };
    let mut frame = BytesMut::new();
    header.encode(&mut frame);
    frame.put_slice(&message(schema::request(api), version, random));
    frame.freeze()
}

/// Changes, cuts or inserts a few bytes.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut impl Rng) {
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..=bytes.len());
        match random.random_range(0..4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.random()),
            2 if at + 4 <= bytes.len() => {
                let huge = [0x7fff_ffffu32, u32::MAX, 0x8000_0000, 0xffff_ff0f];
                let huge = huge[random.random_range(0..huge.len())];
                bytes[at..at + 4].copy_from_slice(&huge.to_be_bytes());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.random();
                }
            }
        }
    }
}

/// A legal message of this version; arrays have up to three items.
pub(crate) fn message(schema: &Message, version: i16, random: &mut impl Rng) -> Vec<u8> {
    generate(schema, version, random).out
}

/// Where lengths and counts stand in a legal message, but for those within tagged fields.
#[cfg(test)]
pub(crate) fn with_lengths(
    schema: &Message,
    version: i16,
    random: &mut impl Rng,
) -> (Vec<u8>, Vec<usize>) {
    let sample = generate(schema, version, random);
    (sample.out, sample.lengths)
}

fn generate<'a, R: Rng>(schema: &Message, version: i16, random: &'a mut R) -> Sample<'a, R> {
    let flexible = version >= schema.flexible_from;
    let mut sample = Sample { out: Vec::new(), lengths: Vec::new(), version, flexible, random };
    sample.fields(&schema.fields);
    sample
}

struct Sample<'a, R> {
    out: Vec<u8>,
    /// Where lengths and counts stand in `out`, but for those within tagged fields.
    lengths: Vec<usize>,
    version: i16,
    flexible: bool,
    random: &'a mut R,
}

impl<R: Rng> Sample<'_, R> {
    fn fields(&mut self, fields: &[Field]) {
        let version = self.version;
        let present = |field: &&Field| field.is_in(version);
        for field in fields.iter().filter(present).filter(|field| field.tag.is_none()) {
            self.value(&field.kind);
        }
        if self.flexible {
            let tagged: Vec<&Field> =
                fields.iter().filter(present).filter(|field| field.tag.is_some()).collect();
            varint::put(&mut self.out, tagged.len() as u32 + 1);
            for field in tagged {
                self.tagged(field.tag.expect("these have a tag"), &field.kind);
            }
            varint::put(&mut self.out, 500);
            varint::put(&mut self.out, 3);
            self.out.put_slice(b"abc");
        }
    }

    fn tagged(&mut self, tag: u32, kind: &Kind) {
        let before = std::mem::take(&mut self.out);
        let lengths = self.lengths.len();
        self.value(kind);
        self.lengths.truncate(lengths);
        let value = std::mem::replace(&mut self.out, before);
        varint::put(&mut self.out, tag);
        varint::put(&mut self.out, value.len() as u32);
        self.out.put_slice(&value);
    }

    fn value(&mut self, kind: &Kind) {
        match kind {
            Kind::Fixed(length) => self.number(*length),
            Kind::Text => {
                let text = TEXTS[self.random.random_range(0..TEXTS.len())].as_bytes();
                self.length(2, text.len());
                self.out.put_slice(text);
            }
            Kind::Bytes => {
                let length = self.random.random_range(0..90);
                self.length(4, length);
                self.out.put_bytes(b'a', length);
            }
            Kind::Array(item) => {
                let count = self.random.random_range(0..4);
                self.length(4, count);
                (0..count).for_each(|_| self.value(item));
            }
            Kind::Struct { nullable: true, .. } if self.random.random() => self.out.put_i8(-1),
            Kind::Struct { nullable, fields } => {
                if *nullable {
                    self.out.put_i8(1);
                }
                self.fields(fields);
            }
        }
    }

    /// A number, or another value of fixed length: small, -1, the largest, or any.
    fn number(&mut self, length: usize) {
        let small = self.random.random_range(0..4);
        match self.random.random_range(0..6) {
            0 => self.out.put_bytes(0xff, length),
            1 => {
                self.out.put_u8(0x7f);
                self.out.put_bytes(0xff, length - 1);
            }
            2 => (0..length).for_each(|_| self.out.put_u8(self.random.random())),
            _ => {
                self.out.put_bytes(0, length - 1);
                self.out.put_u8(small);
            }
        }
    }

    fn length(&mut self, width: usize, length: usize) {
        self.lengths.push(self.out.len());
        match (self.flexible, width) {
            (true, _) => varint::put(&mut self.out, length as u32 + 1),
            (false, 2) => self.out.put_i16(length as i16),
            (false, _) => self.out.put_i32(length as i32),
        }
    }
}
