//! The leader is paused past its session with requests in flight, then goes on.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s4",
            "about": "Pause of the leader past its session with requests in flight; resume.",
            "settings": {
                "client": {
                    "request_ms": 10_000, "slack_ms": 500, "delivery_ms": 20_000,
                    "poll_wait_ms": 50,
                },
                "assignment": [1, 2, 3],
            },
            "repeat": true,
            "steps": [
                {"when": "after 1500ms", "do": "pause",
                 "with": {"aim": {"role": "leader", "of": "all-0"}}, "for": "3s"},
                {"when": "healed and after 5s"},
            ],
        })
    },
};
