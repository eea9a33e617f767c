//! What this machine allows, and what will be skipped because of it.

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// Whether it is there.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// What is skipped without it; empty when nothing is.
    pub skipped: &'static str,
}

/// Looks at everything.
#[must_use]
pub fn examine() -> Vec<Check> {
    Vec::new()
}
