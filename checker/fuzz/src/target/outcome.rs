//! The outcome of a run folder.

use highwater_history::Outcome;

use super::evidence;

/// Reads it, and judges a run with it.
pub fn run(bytes: &[u8]) {
    evidence::document::<Outcome>(bytes);
    evidence::judge_with("outcome.json", bytes);
}
