//! Every in-sync replica is down: the lagging one is not elected.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "all-isr-gone",
            "about": "Every in-sync replica is down and a lagging one is up: nobody leads, nothing \
                      is lost.",
            "settings": {
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "15s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"l": "leader(all-0)", "f": "follower(all-0)"},
                 "do": "cut",
                 "with": {"from": {"nodes": ["$f"]}, "to": {"nodes": ["$l"]}, "ways": "one-way"},
                 "for": "10s"},
                {"when": "$f not in isr(all-0)", "within": "5s"},
                {"when": "after 500ms", "do": "kill", "with": {"aim": {"not": {"nodes": ["$f"]}}},
                 "for": "6s"},
                {"check": "leader(all-0) == none", "within": "4s",
                 "claim": "the partition has no leader"},
                {"always": "leader(all-0) == none", "for": "1500ms",
                 "claim": "the lagging replica is not elected"},
                {"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
                 "claim": "with an in-sync replica back the partition recovers"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_most": 0},
            ],
        })
    },
};
