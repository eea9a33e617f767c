//! The ISR shrinks to the leader, which is killed; unclean elections are allowed.

use serde_json::json;

use super::{Entry, s19::alone};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "As S19, and unclean elections are allowed: while the leader is down another \
                     one is elected.";
        alone("s19-unclean", about, "kill", json!({"unclean.leader.election.enable": "true"}))
    },
};
