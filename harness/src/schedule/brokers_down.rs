//! How many brokers may lose power at once until nothing can be written, and what that loses: one,
//! two, all three replicas of every key, each time with all settings at once.

use serde_json::{Value, json};

use super::{
    Entry,
    compare::{assignment, leader_1_again},
};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |ask| {
        json!({
            "format": 1,
            "name": "brokers-down",
            "about": "One replica, two, all of them lose power at the same instant, the leader \
                      among them, and stay down for a while. Each hits all settings at once.",
            "settings": {
                "assignment": assignment(ask.replicas),
                "options": {"workload": "matrix", "partitions": "1"},
            },
            "steps": steps(&assignment(ask.replicas)),
        })
    },
};

/// How long brokers stay down: until they are missed, the ISR is what is left, and some more.
const DOWN: &str = "6s";

fn steps(replicas: &[u32]) -> Vec<Value> {
    let mut steps = Vec::new();
    for down in 1..=replicas.len() {
        steps.extend(leader_1_again());
        steps.push(json!({"when": "after 2s"}));
        // A slow machine may have lost a follower meanwhile.
        steps.push(json!({
            "when": "full", "within": "60s", "do": "power-loss",
            "with": {"aim": {"nodes": replicas[..down]}, "survives": "nothing"}, "for": DOWN,
        }));
    }
    steps.push(json!({"when": "healed and full", "within": "60s"}));
    steps
}
