//! What the user says that a history may take at most.

use highwater_history::span::Span;
use serde::{Deserialize, Serialize};

/// Limits of what is measured; none where nobody set one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Of the time in which a key acknowledges no send although some are asked for.
    pub unavailable: Option<Span>,
    /// Of the time from the last fault until each key acknowledges sends again.
    pub recovery: Option<Span>,
    /// Of the time from a record's acknowledgement until it is read.
    pub lag: Option<Span>,
}

impl Limits {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
