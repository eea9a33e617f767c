//! Producers and consumers crash in the middle of their operations, also while a leader is down.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "client-crash",
            "about": "Producers and consumers are dropped in the middle of their operations, also \
                      while a leader is down: what they had been told stays true, new ones go on.",
            "settings": {"options": {"time": "20s"}},
            "repeat": true,
            "steps": [
                {"when": "after 1s", "do": "client-crash", "with": {"kind": "producer"},
                 "for": "10ms"},
                {"when": "after 500ms", "do": "client-crash", "with": {"kind": "consumer"},
                 "for": "10ms"},
                {"when": "after 500ms", "do": "kill",
                 "with": {"aim": {"role": "leader", "of": "all-0"}}, "for": "3s"},
                {"when": "after 200ms", "do": "client-crash", "with": {"count": 4}, "for": "10ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "anomalies.duplicate", "at_most": 0},
                {"count": "counts.info", "at_least": 1},
            ],
        })
    },
};
