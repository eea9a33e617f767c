//! One follower does not fetch: the high watermark stays until its next fetch.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "commit",
            "about": "The high watermark stays until the next fetch of every in-sync replica.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "10000"},
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "10s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"f": "follower(all-0)", "l": "leader(all-0)"},
                 "do": "hold",
                 "with": {"from": {"nodes": ["$f"]}, "to": {"nodes": ["$l"]},
                          "api": "Fetch", "part": "request"},
                 "for": "4s"},
                {"when": "after 700ms", "let": {"hw": "hw(all-0)"}},
                {"check": "leo(all-0) > $hw", "within": "2s",
                 "claim": "the log of the leader grows beyond its high watermark"},
                {"always": "hw(all-0) == $hw", "for": "1500ms",
                 "claim": "the high watermark stays while one in-sync replica does not fetch"},
                {"when": "healed", "check": "hw(all-0) > $hw", "within": "5s",
                 "claim": "with the next fetch the high watermark moves"},
            ],
        })
    },
};
