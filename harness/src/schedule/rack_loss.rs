//! All brokers of one of two racks die: the other rack has a replica.
//!
//! Brokers 1 and 2 stand for one rack, 3 and 4 for the other; replicas are assigned as a rack-aware
//! placement would (rule 86).

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "rack-loss",
            "about": "All brokers of one of two racks die; the other rack has a replica of every \
                      partition.",
            "settings": {
                "topic": {"min.insync.replicas": "1"},
                "assignment": [1, 3],
                "options": {"nodes": "4", "acks": "all", "partitions": "1", "time": "12s"},
            },
            "steps": [
                {"when": "after 1s", "do": "kill", "with": {"aim": {"nodes": [1, 2]}}, "for": "5s"},
                {"check": "leader(all-0) == 3", "within": "4s", "claim": "the other rack leads"},
                {"let": {"hw": "hw(all-0)"}},
                {"check": "hw(all-0) > $hw", "within": "3s", "claim": "and takes writes"},
                {"when": "healed", "check": "isr_size(all-0) == 2", "within": "40s",
                 "claim": "the rack that comes back is in sync again"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_most": 0},
            ],
        })
    },
};
