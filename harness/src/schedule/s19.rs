//! The ISR shrinks to the leader, which writes on and is then killed.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s19",
            "about": "Replication is cut until the ISR is the leader alone, heartbeats intact; it \
                      takes writes and is killed.",
            "settings": {"assignment": [1, 2, 3]},
            "repeat": true,
            "steps": [
                {"when": "after 1500ms", "let": {"old": "leader(all-0)"}, "do": "cut",
                 "with": {"from": {"role": "followers", "of": "all-0"},
                          "to": {"role": "leader", "of": "all-0"}, "ways": "one-way"}},
                {"when": "isr(all-0) == [$old]", "within": "20s"},
                {"when": "after 1s", "do": "kill", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "4s"},
                {"when": "after 6s"},
            ],
        })
    },
};
