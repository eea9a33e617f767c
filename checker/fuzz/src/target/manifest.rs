//! The manifest of a run folder.

use highwater_history::Manifest;

use super::evidence;

/// Reads it, and judges a run with it.
pub fn run(bytes: &[u8]) {
    evidence::document::<Manifest>(bytes);
    evidence::judge_with("manifest.json", bytes);
}
