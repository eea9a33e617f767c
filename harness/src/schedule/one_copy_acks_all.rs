//! acks=all with the leader alone in the ISR is one copy, and is lost with its disk.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "one-copy-acks-all",
            "about": "min ISR 1 and the leader alone in the ISR: acks=all is one copy, and it is \
                      lost with the disk.",
            "settings": {
                "topic": {"min.insync.replicas": "1"},
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "15s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"l": "leader(all-0)"}, "do": "cut",
                 "with": {"from": {"role": "followers", "of": "all-0"},
                          "to": {"role": "leader", "of": "all-0"}, "ways": "one-way"}, "for": "5s"},
                {"check": "isr(all-0) == [$l]", "within": "4s",
                 "claim": "the leader is alone in the ISR"},
                {"when": "after 1s", "do": "wipe", "with": {"aim": {"nodes": ["$l"]}}, "for": "4s"},
                // A controller may leave a sole replica that came back empty to the operator.
                {"when": "healed and after 1s", "do": "preferred-election", "for": "10ms"},
                {"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
                 "claim": "it comes back empty, and the others with it"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_least": 1},
            ],
        })
    },
};
