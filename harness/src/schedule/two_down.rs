//! Two of three brokers are down: nothing more is committed, and nothing is lost.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "two-down",
            "about": "Two of three brokers are killed; the controller is a process of its own.",
            "settings": {
                "assignment": [1, 2, 3],
                "topic": {"min.insync.replicas": "2"},
                "options": {
                    "acks": "all", "partitions": "1", "replication-factor": "3", "time": "14s",
                },
            },
            "steps": [
                {"when": "after 1s", "let": {"l": "leader(all-0)"}, "do": "kill",
                 "with": {"aim": {"role": "followers", "of": "all-0"}}, "for": "6s"},
                {"check": "isr(all-0) == [$l]", "within": "5s",
                 "claim": "the leader is alone in the ISR"},
                {"let": {"hw": "hw(all-0)"}},
                {"always": "hw(all-0) == $hw", "for": "2s",
                 "claim": "the high watermark stays: nothing more is committed"},
                {"when": "healed", "check": "hw(all-0) > $hw and isr_size(all-0) == 3",
                 "within": "20s",
                 "claim": "with the brokers back the ISR is full and the high watermark moves"},
            ],
            "expect": [{"count": "anomalies.lost-write", "at_most": 0}],
        })
    },
};
