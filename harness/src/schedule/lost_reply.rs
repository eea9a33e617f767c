//! The answer to a write is lost and the client repeats it: one record.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "lost-reply",
            "about": "Brokers append, their answers are lost, clients repeat: one record with \
                      idempotence; without it duplicates, which are permitted.",
            "settings": {"options": {"retries": "on", "acks": "all", "time": "8s"}},
            "steps": [
                {"when": "after 1s", "do": "reply-loss", "with": {"aim": "all"}, "for": "1s"},
                {"when": "healed and after 3s", "do": "reply-loss", "with": {"aim": "all"},
                 "for": "1s"},
            ],
            "expect": [
                {"count": "anomalies.duplicate", "at_most": 0},
                {"count": "anomalies.lost-write", "at_most": 0},
            ],
        })
    },
};
