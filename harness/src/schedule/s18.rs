//! Followers get no answer while consumers tail; then the leader dies.
//!
//! They give up on an answer and ask again, so that a leader that counts what it sent counts much.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s18",
            "about": "Fetch answers of the leader to all followers are withheld for less than the \
                      lag limit while consumers tail; the leader is killed; heal.",
            "settings": {
                "broker": {
                    "replica.lag.time.max.ms": "10000", "replica.socket.timeout.ms": "1000",
                },
                "assignment": [1, 2, 3],
            },
            "repeat": true,
            "steps": [
                {"when": "after 1500ms", "let": {"old": "leader(all-0)"}, "do": "hold",
                 "with": {"from": {"role": "followers", "of": "all-0"},
                          "to": {"role": "leader", "of": "all-0"},
                          "api": "Fetch", "part": "answer", "then": "drop"},
                 "for": "4500ms"},
                {"when": "after 2s", "do": "kill", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "2500ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
