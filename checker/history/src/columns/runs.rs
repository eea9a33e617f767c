//! Two small columns of the binary form: numbers that mostly repeat, and bytes as they are.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

/// Numbers, each with how often it stands in a row.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Runs(Vec<(i64, u32)>);

impl Runs {
    /// Adds a number.
    pub(super) fn push(&mut self, number: i64) {
        match self.0.last_mut() {
            Some((last, times)) if *last == number && *times < u32::MAX => *times += 1,
            _ => self.0.push((number, 1)),
        }
    }
}

/// Takes runs apart from front to back.
#[derive(Debug)]
pub(super) struct RunsAt {
    runs: std::vec::IntoIter<(i64, u32)>,
    number: i64,
    times: u32,
}

impl From<Runs> for RunsAt {
    fn from(runs: Runs) -> Self {
        Self { runs: runs.0.into_iter(), number: 0, times: 0 }
    }
}

impl RunsAt {
    /// The next number.
    ///
    /// # Errors
    /// When `what` end before, or a number stands there no times.
    pub(super) fn next(&mut self, what: &str) -> Result<i64, String> {
        if self.times == 0 {
            let next = self.runs.next().filter(|(_, times)| *times > 0);
            (self.number, self.times) = next.ok_or_else(|| format!("its {what} end too early"))?;
        }
        self.times -= 1;
        Ok(self.number)
    }
}

/// Bytes that are written and read all at once.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(BytesVisitor)
    }
}

struct BytesVisitor;

impl Visitor<'_> for BytesVisitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_owned()))
    }
}
