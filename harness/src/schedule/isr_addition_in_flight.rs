//! A follower that the leader has asked for counts before the leader hears that it was let in.

use serde_json::{Value, json};

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "A leader asks for node 2 in its ISR; that is committed, the leader does not \
                     hear of it and is killed: node 2 must lack nothing that was acknowledged.";
        addition("isr-addition-in-flight", about, false)
    },
};

/// The experiment under a name; the leader may get the metadata of the change before late.
pub(super) fn addition(name: &str, about: &str, late_metadata: bool) -> Value {
    json!({
        "format": 1,
        "name": name,
        "about": about,
        "settings": {
            "broker": {"replica.lag.time.max.ms": "2000"},
            "topic": {"min.insync.replicas": "2"},
            "assignment": [1, 2, 3],
            "options": {"acks": "all", "partitions": "1", "time": "20s"},
        },
        "steps": steps(late_metadata),
        "expect": [{"count": "anomalies.lost-write", "at_most": 0}],
    })
}

/// Times are such that what is held is held before it would be sent, and what was under way before
/// has come: a leader asks for metadata twice a second. A replica that was caught up within the lag
/// limit counts in any case (rule 16), so the kill comes later than that.
fn steps(late_metadata: bool) -> Vec<Value> {
    let parted = json!({"from": {"nodes": [2]}, "to": {"nodes": [1]}, "ways": "one-way"});
    let metadata = held("Fetch", "request");
    let mut steps = vec![json!({"when": "leader(all-0) == 1 and full and after 1s",
                                "do": "cut", "with": parted, "for": "5s"})];
    if late_metadata {
        // Released once the addition is asked for: then comes that node 2 was removed.
        steps.push(json!({"when": "after 500ms", "do": "hold", "with": metadata, "for": "8s"}));
    }
    steps.extend([
        json!({"check": "isr(all-0) == [1, 3]", "within": "4s",
               "claim": "node 2 has left the ISR"}),
        json!({"do": "hold", "with": held("AlterPartition", "request"), "for": "8500ms"}),
        json!({"when": "after 2500ms", "check": "behind(all-0, 2) < 50", "within": "4s",
               "claim": "node 2 has caught up, and the leader asks for it in vain"}),
        json!({"when": "after 4s", "do": "hold", "with": metadata, "for": "8s"}),
        json!({"do": "hold", "with": held("AlterPartition", "answer"), "for": "8s"}),
        json!({"check": "isr(all-0) == [1, 2, 3]", "within": "6s",
               "claim": "the addition is committed, and the leader does not hear of it"}),
        json!({"do": "cut", "with": parted, "for": "6s"}),
        json!({"when": "after 3500ms", "do": "kill", "with": {"aim": {"nodes": [1]}},
               "for": "5s"}),
        json!({"when": "healed", "check": "isr_size(all-0) == 3", "within": "60s",
               "claim": "all are in sync again"}),
    ]);
    steps
}

/// What the leader asks of the controllers, or their answers.
fn held(api: &str, part: &str) -> Value {
    json!({"from": {"nodes": [1]}, "to": "controllers", "api": api, "part": part})
}
