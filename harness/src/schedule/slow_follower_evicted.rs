//! A follower that does not replicate leaves the ISR by the lag limit.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "slow-follower-evicted",
            "about": "Replication of one follower stops, its heartbeats go on.",
            "settings": {
                "broker": {
                    "replica.lag.time.max.ms": "2000", "broker.session.timeout.ms": "8000",
                },
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "12s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"f": "follower(all-0)", "l": "leader(all-0)"},
                 "do": "cut", "with": {"from": {"nodes": ["$f"]}, "to": {"nodes": ["$l"]},
                                       "ways": "one-way"},
                 "for": "6s"},
                {"when": "after 600ms", "let": {"hw": "hw(all-0)"}},
                {"always": "hw(all-0) == $hw and $f in isr(all-0)", "for": "1s",
                 "claim": "the high watermark is pinned and the follower stays for the lag limit"},
                {"check": "$f not in isr(all-0)", "within": "2s",
                 "claim": "it leaves after 1.0 to 1.5 times the lag limit"},
                {"check": "hw(all-0) > $hw", "within": "1s",
                 "claim": "then the high watermark jumps"},
                {"when": "healed", "check": "$f in isr(all-0)", "within": "40s",
                 "claim": "after the heal it is back"},
            ],
        })
    },
};
