//! Lengths of time as people write them: `500ms`, `2s`, `1m`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A length of time in whole milliseconds, written `500ms`, `2s`, `1.5s` or `1m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub u64);

impl Span {
    /// In nanoseconds.
    #[must_use]
    pub fn ns(self) -> u64 {
        self.0.saturating_mul(1_000_000)
    }

    /// As the standard library has it.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms if ms % 1_000 == 0 => write!(f, "{}s", ms / 1_000),
            ms => write!(f, "{ms}ms"),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no length of time; write 500ms, 2s or 1m");
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, unit) = text.split_at(digits);
        let factor = match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" => 60_000.0,
            _ => return Err(wrong()),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        Ok(Span((number * factor).round() as u64))
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}
