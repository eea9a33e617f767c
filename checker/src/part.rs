//! A part of a history: some of its keys.

use std::{fmt, num::ParseIntError, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::index::KeyId;

/// The keys whose number leaves `nth` when divided by `of`. Keys have the same numbers in every
/// part: whoever judges one reads the whole history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Told")]
pub struct Part {
    nth: u32,
    of: u32,
}

/// What a part file says.
#[derive(Deserialize)]
struct Told {
    nth: u32,
    of: u32,
}

impl TryFrom<Told> for Part {
    type Error = PartError;

    fn try_from(Told { nth, of }: Told) -> Result<Self, PartError> {
        match of {
            0 => Err(PartError::None),
            _ => Self::new(nth, of).ok_or(PartError::Beyond { of }),
        }
    }
}

impl Part {
    /// All keys.
    pub const WHOLE: Self = Self { nth: 0, of: 1 };

    /// The `nth` of `of` parts, counted from 0, if there is one.
    pub fn new(nth: u32, of: u32) -> Option<Self> {
        (nth < of).then_some(Self { nth, of })
    }

    /// Which part it is, counted from 0.
    pub fn nth(self) -> u32 {
        self.nth
    }

    /// Of how many.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether a key belongs to it.
    pub fn owns(self, key: KeyId) -> bool {
        key % self.of == self.nth
    }

    /// Whether it is the one in which everything is judged that concerns no key.
    pub fn is_first(self) -> bool {
        self.nth == 0
    }
}

impl Default for Part {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.nth, self.of)
    }
}

/// Why a text names no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The text is not `i/n`.
    #[error("a part is named i/n, as in 0/8")]
    Shape,
    /// One of the two is no number.
    #[error("a part is named i/n, as in 0/8: {0}")]
    Number(#[from] ParseIntError),
    /// There is no such part.
    #[error("of {of} parts the numbers are 0 to {}", of.saturating_sub(1))]
    Beyond {
        /// Of how many.
        of: u32,
    },
    /// There are no parts at all.
    #[error("a history has at least one part")]
    None,
}

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let (nth, of) = text.split_once('/').ok_or(PartError::Shape)?;
        Told { nth: nth.parse()?, of: of.parse()? }.try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_belongs_to_one_part() {
        let parts: Vec<Part> = (0..3).filter_map(|nth| Part::new(nth, 3)).collect();
        assert_eq!(parts.len(), 3);
        for key in 0..20 {
            assert_eq!(parts.iter().filter(|part| part.owns(key)).count(), 1, "key {key}");
        }
    }

    #[test]
    fn a_text_names_a_part_or_says_what_is_wrong() {
        assert_eq!("2/8".parse(), Ok(Part { nth: 2, of: 8 }));
        let wrong = |text: &str| text.parse::<Part>().expect_err("it is refused").to_string();
        assert_eq!(wrong("8/8"), "of 8 parts the numbers are 0 to 7");
        assert_eq!(wrong("0/0"), "a history has at least one part");
        assert_eq!(wrong("3"), "a part is named i/n, as in 0/8");
        assert!(wrong("-1/8").starts_with("a part is named i/n, as in 0/8: invalid digit"));
    }

    #[test]
    fn a_file_names_a_part_that_there_is() {
        let read = |text| serde_json::from_str::<Part>(text).map_err(|error| error.to_string());
        assert_eq!(read(r#"{"nth":2,"of":8}"#), Ok(Part { nth: 2, of: 8 }));
        assert_eq!(read(r#"{"nth":8,"of":8}"#), Err(PartError::Beyond { of: 8 }.to_string()));
        assert_eq!(read(r#"{"nth":0,"of":0}"#), Err(PartError::None.to_string()));
    }
}
