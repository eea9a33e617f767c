//! As elr-cleared-topic-deleted, without ELR: what it is compared with.

use super::{Entry, elr_cleared_topic_deleted::with_elr};

/// This schedule.
pub static ENTRY: Entry = Entry { make: |_| with_elr("elr-off-topic-deleted", "0") };
