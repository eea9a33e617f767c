//! The ISR shrinks to the leader, which writes on and then loses power.

use serde_json::json;

use super::{Entry, s19::alone};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "As S19, and then the leader, alone in the ISR, loses power.";
        alone("s19-power-loss", about, "power-loss", json!({}))
    },
};
