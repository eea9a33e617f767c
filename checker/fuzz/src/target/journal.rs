//! The heal journal of a run folder.

use highwater_history::journal::{JournalEntry, left_to_heal};

use super::evidence;

/// Reads it, and says what is left to heal.
pub fn run(bytes: &[u8]) {
    if let Some(read) = evidence::lines::<JournalEntry>(bytes) {
        assert!(left_to_heal(&read.lines).len() <= read.lines.len());
    }
}
