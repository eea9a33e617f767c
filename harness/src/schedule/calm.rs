//! Nothing happens: what the settings cost without faults.

use serde_json::json;

use super::Entry;

/// Within which somebody looks at the clock again.
const LOOK_MS: u64 = 1_000;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |ask| {
        json!({
            "format": 1,
            "name": "calm",
            "about": "No fault, for as long as --time says: latencies and sizes are those of a \
                      healthy cluster.",
            "steps": [{
                "when": format!("after {}ms", ask.time_ms),
                "within": format!("{}ms", ask.time_ms + LOOK_MS),
            }],
        })
    },
};
