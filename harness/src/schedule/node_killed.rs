//! The only broker is killed and comes back: what it acknowledged is still there.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "node-killed",
            "about": "One broker, one replica: a kill takes the process and not the page cache, so \
                      nothing that was acknowledged may be gone (c.4, RF 1).",
            "settings": {
                "options": {"acks": "all", "nodes": "1", "replication-factor": "1", "time": "15s"},
            },
            "steps": [
                {"when": "after 2s", "do": "kill", "with": {"aim": "one"}, "for": "2s"},
                {"when": "healed and after 4s", "do": "kill", "with": {"aim": "one"}, "for": "2s"},
                {"when": "healed and after 4s"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_most": 0},
            ],
        })
    },
};
