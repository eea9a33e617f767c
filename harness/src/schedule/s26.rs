//! A follower is a little late, then slower than the writes, and never silent.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s26",
            "about": "A follower is a little late, then its link is slower than what is written, \
                      never silent; heal.",
            "settings": {
                "broker": {
                    "replica.lag.time.max.ms": "2000",
                    "broker.session.timeout.ms": "8000",
                    "replica.fetch.max.bytes": "16384",
                },
                "assignment": [1, 2, 3],
                "options": {"acks": "1", "partitions": "1", "time": "20s"},
            },
            "steps": [
                {"when": "after 1500ms", "let": {"l": "leader(one-0)", "f": "follower(one-0)"},
                 "do": "slow-link",
                 "with": {"from": {"nodes": ["$l"]}, "to": {"nodes": ["$f"]}, "ways": "one-way",
                          "delay_ms": 80}, "for": "4s"},
                {"always": "$f in isr(one-0)", "for": "3500ms",
                 "claim": "a follower that is late by records and not by time stays"},
                {"when": "healed and after 4500ms", "do": "slow-link",
                 "with": {"from": {"nodes": ["$l"]}, "to": {"nodes": ["$f"]}, "ways": "one-way",
                          "bytes_per_s": 24000}, "for": "7s"},
                {"check": "$f not in isr(one-0)", "within": "5s",
                 "claim": "one that fetches and never reaches the log end leaves by the lag limit"},
                {"let": {"hw": "hw(one-0)"}},
                {"check": "hw(one-0) > $hw + 200", "within": "2s",
                 "claim": "then the high watermark follows what is written"},
                {"when": "healed", "check": "$f in isr(one-0)", "within": "15s",
                 "claim": "after the heal it is back"},
            ],
            "expect": [{"count": "anomalies.lost-write", "at_most": 0}],
        })
    },
};
