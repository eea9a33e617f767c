//! Every in-sync replica is down: the lagging one is not elected.

use serde_json::{Value, json};

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "Every in-sync replica is down and a lagging one is up: nobody leads, nothing \
                     is lost.";
        let lost = json!({"count": "permitted.lost-write", "at_most": 0});
        without_isr("all-isr-gone", about, json!({}), waits(), lost)
    },
};

fn waits() -> Vec<Value> {
    vec![
        json!({"check": "leader(all-0) == none", "within": "4s",
               "claim": "the partition has no leader"}),
        json!({"always": "leader(all-0) == none", "for": "1500ms",
               "claim": "the lagging replica is not elected"}),
        json!({"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
               "claim": "with an in-sync replica back the partition recovers"}),
    ]
}

/// The experiment under a name with these topic settings: what follows once the lagging replica,
/// `$f`, is the only one up, and what may be lost.
pub(super) fn without_isr(
    name: &str,
    about: &str,
    topic: Value,
    then: Vec<Value>,
    lost: Value,
) -> Value {
    let mut steps = vec![
        json!({"when": "after 1s", "let": {"l": "leader(all-0)", "f": "follower(all-0)"},
               "do": "cut", "for": "10s",
               "with": {"from": {"nodes": ["$f"]}, "to": {"nodes": ["$l"]}, "ways": "one-way"}}),
        json!({"when": "$f not in isr(all-0)", "within": "5s"}),
        json!({"when": "after 500ms", "do": "kill", "with": {"aim": {"not": {"nodes": ["$f"]}}},
               "for": "6s"}),
    ];
    steps.extend(then);
    json!({
        "format": 1,
        "name": name,
        "about": about,
        "settings": {
            "topic": topic,
            "assignment": [1, 2, 3],
            "options": {"acks": "all", "partitions": "1", "time": "15s"},
        },
        "steps": steps,
        "expect": [{"count": "anomalies.lost-write", "at_most": 0}, lost],
    })
}
