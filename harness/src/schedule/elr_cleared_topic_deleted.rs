//! A broker cannot come back: its topic's ELR was cleared by a change of min.insync.replicas, and
//! the topic is deleted since.

use serde_json::{Value, json};

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry { make: |_| with_elr("elr-cleared-topic-deleted", "1") };

/// The experiment under a name, with ELR at this level.
pub(super) fn with_elr(name: &str, level: &str) -> Value {
    json!({
        "format": 1,
        "name": name,
        "about": "A broker enters the ELR of a topic, min.insync.replicas is changed (which \
                  clears the ELR), the topic is deleted; the broker is killed and started: it \
                  registers, and every ISR is full again.",
        "settings": {
            "features": {"eligible.leader.replicas.version": level},
            "assignment": [1, 2, 3],
            "options": {
                "nodes": "3", "controllers": "combined", "acks": "all", "partitions": "1",
                "time": "60s",
            },
        },
        "steps": [
            {"when": "after 1s", "do": "topic-create", "for": "10ms",
             "with": {"name": "doomed", "assignment": [1, 2],
                      "configs": {"min.insync.replicas": "2"}}},
            {"when": "after 1s", "do": "stop", "with": {"aim": {"nodes": [2]}}, "for": "4s"},
            {"when": "2 not in isr(all-0)", "within": "10s"},
            {"when": "after 1s", "do": "config-change", "for": "10ms",
             "with": {"topic": "doomed", "key": "min.insync.replicas", "value": "1",
                      "stays": true}},
            {"when": "healed and full", "within": "60s"},
            {"when": "after 1s", "do": "topic-delete", "with": {"name": "doomed"},
             "for": "10ms"},
            {"when": "after 1s", "do": "kill", "with": {"aim": {"nodes": [2]}}, "for": "3s"},
            {"when": "2 not in isr(all-0)", "within": "10s"},
            {"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
             "claim": "the broker registers and every ISR is full again"},
        ],
    })
}
