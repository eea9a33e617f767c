//! The ISR shrinks to the leader, which writes on and is then killed.

use serde_json::{Value, json};

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "Replication is cut until the ISR is the leader alone, heartbeats intact; it \
                     takes writes and is killed.";
        alone("s19", about, "kill", json!({}))
    },
};

/// S19 under a name, with this fault of the leader that is alone, and these topic settings.
pub(super) fn alone(name: &str, about: &str, fault: &str, topic: Value) -> Value {
    let mut steps = vec![
        stop_replication("8s"),
        json!({"when": "isr(all-0) == [$old]", "within": "6s"}),
        json!({"when": "after 1s", "do": fault, "with": {"aim": {"nodes": ["$old"]}}, "for": "4s"}),
    ];
    if fault == "wipe" {
        steps.push(elect_the_emptied());
    }
    steps.push(json!({"when": "healed and isr_size(all-0) == 3", "within": "60s"}));
    json!({
        "format": 1,
        "name": name,
        "about": about,
        "settings": {"assignment": [1, 2, 3], "topic": topic, "options": {"time": "20s"}},
        "repeat": true,
        "steps": steps,
    })
}

/// The step after which the leader, `$old`, gets no fetches for so long.
pub(super) fn stop_replication(lasts: &str) -> Value {
    json!({
        "when": "after 1500ms", "let": {"old": "leader(all-0)"}, "do": "cut", "for": lasts,
        "with": {"from": {"role": "followers", "of": "all-0"},
                 "to": {"role": "leader", "of": "all-0"}, "ways": "one-way"},
    })
}

/// The step that a controller may need which leaves a sole replica that came back empty to the
/// operator.
pub(super) fn elect_the_emptied() -> Value {
    json!({"when": "healed and after 1s", "do": "preferred-election", "for": "10ms"})
}
