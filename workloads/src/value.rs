//! The payload of a record: run, key, value, length and checksum, padded to a size.

use std::fmt::Write;

use bytes::Bytes;

const MAGIC: &str = "hw1";
/// The checksum: eight hexadecimal digits after a bar.
const TAIL: usize = 9;

/// What is wrong with a payload that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strange {
    /// It is not a payload of ours, or its length or checksum does not fit.
    Corrupt,
    /// It is intact and was written to another key of this run.
    Misplaced {
        /// The key that it names.
        key: String,
        /// The value that it names.
        value: i64,
    },
    /// It is intact and was written by another run.
    Foreign {
        /// The run that it names.
        run: String,
    },
}

/// Writes a payload of at least `size` bytes.
pub fn encode(run: &str, key: &str, value: i64, size: usize) -> Bytes {
    let mut text = String::with_capacity(size.max(64));
    // The length counts the whole payload and stands in it, so its own width is fixed.
    write!(text, "{MAGIC}|{run}|{key}|{value}|00000000|").expect("a string takes every write");
    let length_at = text.len() - 9;
    while text.len() + TAIL < size {
        text.push('.');
    }
    let length = text.len() + TAIL;
    text.replace_range(length_at..length_at + 8, &format!("{length:08}"));
    let tail = tail(text.as_bytes());
    text.push_str(&tail);
    Bytes::from(text)
}

fn tail(body: &[u8]) -> String {
    format!("|{:08x}", crc32c::crc32c(body))
}

/// Reads a payload that was found under `key` of `run`, and gives its value.
pub fn decode(run: &str, key: &str, payload: &[u8]) -> Result<i64, Strange> {
    let parts = parse(payload).ok_or(Strange::Corrupt)?;
    if parts.run != run {
        return Err(Strange::Foreign { run: parts.run.into() });
    }
    if parts.key != key {
        return Err(Strange::Misplaced { key: parts.key.into(), value: parts.value });
    }
    Ok(parts.value)
}

struct Parts<'a> {
    run: &'a str,
    key: &'a str,
    value: i64,
}

fn parse(payload: &[u8]) -> Option<Parts<'_>> {
    let body = payload.len().checked_sub(TAIL)?;
    let text = std::str::from_utf8(payload).ok()?;
    if text.get(body..)? != tail(&payload[..body]) {
        return None;
    }
    let mut fields = text.get(..body)?.split('|');
    if fields.next()? != MAGIC {
        return None;
    }
    let (run, key) = (fields.next()?, fields.next()?);
    let value = fields.next()?.parse().ok()?;
    let length: usize = fields.next()?.parse().ok()?;
    (length == payload.len()).then_some(Parts { run, key, value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Strange, decode, encode};

    #[test]
    fn the_layout_is_pinned() {
        let payload = encode("r7", "all-0", 17, 40);
        assert_eq!(&payload[..], b"hw1|r7|all-0|17|00000040|......|5ee33e4c");
    }

    #[test]
    fn a_record_of_another_key_or_run_is_told_apart() {
        let payload = encode("r7", "all-0", 17, 0);
        let misplaced = Strange::Misplaced { key: "all-0".into(), value: 17 };
        assert_eq!(decode("r7", "all-1", &payload), Err(misplaced));
        assert_eq!(decode("r8", "all-0", &payload), Err(Strange::Foreign { run: "r7".into() }));
    }

    proptest! {
        #[test]
        fn rule_d19_every_flipped_bit_is_noticed(
            value: i64, size in 0usize..200, at: prop::sample::Index, bit in 0u8..8
        ) {
            let payload = encode("r7", "all-0", value, size);
            prop_assert!(payload.len() >= size);
            prop_assert_eq!(decode("r7", "all-0", &payload), Ok(value));
            let mut bad = payload.to_vec();
            let at = at.index(bad.len());
            bad[at] ^= 1 << bit;
            prop_assert!(decode("r7", "all-0", &bad).is_err());
        }

        #[test]
        fn garbage_is_corrupt(garbage in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(decode("r7", "all-0", &garbage), Err(Strange::Corrupt));
        }
    }
}
