//! acks=all with the leader alone in the ISR is one copy, and is lost with its disk.

use serde_json::{Value, json};

use super::{Entry, s19::elect_the_emptied};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "min ISR 1 and the leader alone in the ISR: acks=all is one copy, and it is \
                     lost with the disk.";
        let claim = "it comes back empty, and the others with it";
        let lost = json!({"count": "permitted.lost-write", "at_least": 1});
        one_copy("one-copy-acks-all", about, "wipe", claim, lost)
    },
};

/// The experiment under a name: this fault of the leader, how it comes back, what may be lost.
pub(super) fn one_copy(name: &str, about: &str, fault: &str, claim: &str, lost: Value) -> Value {
    let mut steps = vec![
        json!({"when": "after 1s", "let": {"l": "leader(all-0)"}, "do": "cut", "for": "5s",
               "with": {"from": {"role": "followers", "of": "all-0"},
                        "to": {"role": "leader", "of": "all-0"}, "ways": "one-way"}}),
        json!({"check": "isr(all-0) == [$l]", "within": "4s",
               "claim": "the leader is alone in the ISR"}),
        json!({"when": "after 1s", "do": fault, "with": {"aim": {"nodes": ["$l"]}}, "for": "4s"}),
    ];
    if fault == "wipe" {
        steps.push(elect_the_emptied());
    }
    steps.push(json!({"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
                      "claim": claim}));
    json!({
        "format": 1,
        "name": name,
        "about": about,
        "settings": {
            "topic": {"min.insync.replicas": "1"},
            "assignment": [1, 2, 3],
            "options": {"acks": "all", "partitions": "1", "time": "15s"},
        },
        "steps": steps,
        "expect": [{"count": "anomalies.lost-write", "at_most": 0}, lost],
    })
}
