//! Random messages that are legal by the schema, and how to break them.

use bytes::BufMut;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::guard::schema::{Field, Kind, Message};
use crate::varint;

/// A legal message of this version; arrays have up to three items.
pub(super) fn message(schema: &Message, version: i16, random: &mut ChaCha8Rng) -> Vec<u8> {
    generate(schema, version, random).out
}

/// A legal message once for each length and count in it, with that one far too large.
pub(super) fn with_huge_lengths(
    schema: &Message,
    version: i16,
    random: &mut ChaCha8Rng,
) -> Vec<Vec<u8>> {
    let sample = generate(schema, version, random);
    let flexible_huge = [0xff, 0xff, 0xff, 0xff, 0x0f];
    let huge = if sample.flexible { &flexible_huge[..] } else { &[0x7f, 0xff, 0xff, 0xff] };
    let broken = |&at: &usize| [&sample.out[..at], huge].concat();
    sample.lengths.iter().map(broken).collect()
}

fn generate<'a>(schema: &Message, version: i16, random: &'a mut ChaCha8Rng) -> Sample<'a> {
    let flexible = version >= schema.flexible_from;
    let mut sample = Sample { out: Vec::new(), lengths: Vec::new(), version, flexible, random };
    sample.fields(&schema.fields);
    sample
}

/// Changes, cuts or inserts a few bytes.
pub(super) fn mutate(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..=bytes.len());
        match random.random_range(0..4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.random()),
            2 if at + 4 <= bytes.len() => {
                let huge = *[0x7fff_ffffu32, u32::MAX, 0x8000_0000, 0xffff_ff0f]
                    .get(random.random_range(0..4))
                    .unwrap();
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

struct Sample<'a> {
    out: Vec<u8>,
    /// Where lengths and counts stand in `out`, but for those within tagged fields.
    lengths: Vec<usize>,
    version: i16,
    flexible: bool,
    random: &'a mut ChaCha8Rng,
}

impl Sample<'_> {
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
                let tag = field.tag.unwrap();
                self.tagged(tag, &field.kind);
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
            // 1 is a legal value of every number, and of the byte before a structure
            Kind::Fixed(length) => self.out.put_bytes(1, *length),
            Kind::Text => self.sized(2),
            Kind::Bytes => self.sized(4),
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

    fn sized(&mut self, width: usize) {
        let length = self.random.random_range(0..9);
        self.length(width, length);
        self.out.put_bytes(b'a', length);
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
