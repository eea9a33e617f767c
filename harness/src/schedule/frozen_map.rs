//! acks=1 succeeds under min ISR, and nothing of it can be read.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "frozen-map",
            "about": "Both followers leave the ISR: the producer succeeds, consumers see nothing.",
            "settings": {
                "assignment": [1, 2, 3],
                "topic": {"min.insync.replicas": "2"},
                "options": {"acks": "1", "partitions": "1", "time": "12s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"l": "leader(one-0)"}, "do": "cut",
                 "with": {"from": {"role": "followers", "of": "one-0"},
                          "to": {"role": "leader", "of": "one-0"}, "ways": "one-way"},
                 "for": "7s"},
                {"check": "isr(one-0) == [$l]", "within": "5s",
                 "claim": "the leader is alone in the ISR"},
                {"let": {"hw": "hw(one-0)", "leo": "leo(one-0)"}},
                {"when": "after 200 sends", "check": "leo(one-0) > $leo", "within": "2s",
                 "claim": "sends with acks=1 succeed and the log grows"},
                {"always": "hw(one-0) == $hw", "for": "1s",
                 "claim": "the high watermark is frozen"},
                {"when": "healed", "check": "hw(one-0) > $hw", "within": "40s",
                 "claim": "after the heal the high watermark moves"},
            ],
        })
    },
};
