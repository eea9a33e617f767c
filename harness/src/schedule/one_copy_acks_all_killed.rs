//! acks=all with the leader alone in the ISR is one copy, which survives a kill.

use serde_json::json;

use super::{Entry, one_copy_acks_all::one_copy};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "min ISR 1 and the leader alone in the ISR: acks=all is one copy, which a \
                     kill does not take.";
        let claim = "it comes back with what it had";
        let lost = json!({"count": "permitted.lost-write", "at_most": 0});
        one_copy("one-copy-acks-all-killed", about, "kill", claim, lost)
    },
};
