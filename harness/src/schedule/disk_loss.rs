//! A broker loses its disk: with three replicas nothing is lost.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "disk-loss",
            "about": "A broker loses its disk; with three replicas nothing is lost.",
            "settings": {"options": {"acks": "all", "time": "12s"}},
            "steps": [
                {"when": "after 1500ms", "do": "wipe",
                 "with": {"aim": {"role": "leader", "of": "all-0"}}, "for": "3s"},
                {"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
                 "claim": "it copies all that it lost"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_most": 0},
            ],
        })
    },
};
