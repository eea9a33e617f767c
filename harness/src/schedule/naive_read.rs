//! A reader that goes past the high watermark sees a record that is gone later.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "naive-read",
            "about": "Reads up to the log end (mutant HW-09) while followers get nothing; the \
                      leader dies: the reader saw a record that no longer exists.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "10000"},
                "assignment": [1, 2, 3],
                "mutants": ["HW-09"],
                "options": {"time": "12s"},
            },
            "steps": [
                {"when": "after 1500ms", "let": {"old": "leader(all-0)"}, "do": "hold",
                 "with": {"from": {"role": "followers", "of": "all-0"},
                          "to": {"role": "leader", "of": "all-0"},
                          "api": "Fetch", "part": "answer", "then": "drop"},
                 "for": "4500ms"},
                {"when": "after 2s", "do": "kill", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "2500ms"},
            ],
            "expect": [{"count": "anomalies.phantom-read", "at_least": 1}],
        })
    },
};
