//! min.insync.replicas is lowered to the size of the ISR and set back, then its leader loses its
//! disk.

use serde_json::{Value, json};

use super::{
    Entry,
    s19::{elect_the_emptied, stop_replication},
};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s19-min-isr",
            "about": "As S19; min.insync.replicas is 1 for a while, so that the leader alone \
                      acknowledges, and 2 again before it loses its disk: what it acknowledged as \
                      one copy may be lost.",
            "settings": {
                "topic": {"min.insync.replicas": "2"},
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "30s"},
            },
            "steps": steps(),
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_least": 1},
            ],
        })
    },
};

fn steps() -> Value {
    json!([
        stop_replication("18s"),
        {"check": "isr(all-0) == [$old]", "within": "6s",
         "claim": "the leader is alone in the ISR"},
        {"when": "after 1s", "let": {"stood": "hw(all-0)"}},
        {"always": "hw(all-0) == $stood", "for": "1s",
         "claim": "one copy is not enough, the HW stays"},
        {"do": "config-change", "for": "3s",
         "with": {"of": "all-0", "key": "min.insync.replicas", "value": "1"}},
        {"check": "hw(all-0) > $stood", "within": "3s",
         "claim": "with min ISR 1 it is, the HW moves on"},
        {"when": "after 5s", "let": {"stands": "hw(all-0)"}},
        {"always": "hw(all-0) == $stands", "for": "1s",
         "claim": "with min ISR 2 again it is not, the HW stays"},
        {"do": "wipe", "with": {"aim": {"nodes": ["$old"]}}, "for": "4s"},
        elect_the_emptied(),
        {"when": "healed", "check": "isr_size(all-0) == 3", "within": "60s",
         "claim": "it comes back empty, and the others with it"},
    ])
}
