//! The leader is killed, again and again, while its followers are a little behind.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s1",
            "about": "Leader kill loop under load; followers are 30 ms behind.",
            "repeat": true,
            "steps": [
                {"when": "after 1s", "do": "slow-link",
                 "with": {"from": "leader", "to": "followers", "delay_ms": 30}, "for": "1500ms"},
                {"when": "after 1s", "do": "kill", "with": {"aim": "leader"}, "for": "2500ms"},
                {"when": "healed"},
            ],
        })
    },
};
