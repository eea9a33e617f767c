//! The samples of a run folder.

use highwater_history::samples::Sample;

use super::evidence;

/// Reads them, and judges a run with them.
pub fn run(bytes: &[u8]) {
    evidence::lines::<Sample>(bytes);
    evidence::judge_with("samples.jsonl", bytes);
}
