//! The committed metadata log of a run folder.

use highwater_history::metadata::MetadataRecord;

use super::evidence;

/// Reads it, and judges a run with it.
pub fn run(bytes: &[u8]) {
    evidence::lines::<MetadataRecord>(bytes);
    evidence::judge_with("metadata.jsonl", bytes);
}
