//! What each choice of acks, min.insync.replicas, unclean election and flush costs: one fault after
//! the other hits the keys of all choices at the same instant.

use serde_json::{Value, json};

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |ask| {
        let replicas = assignment(ask.replicas);
        json!({
            "format": 1,
            "name": "compare",
            "about": "A leader kill, and one while its followers lag; the leader alone in the ISR, \
                      then killed, wiped or without power; power loss of a majority. Each hits \
                      all settings at once.",
            "settings": {
                "assignment": replicas,
                "options": {"workload": "matrix", "partitions": "1"},
            },
            "steps": steps(&replicas),
        })
    },
};

/// A key that every phase can write: its leader stands for that of all keys.
const KEY: &str = "all_min1_clean_cached-0";
/// How long a broker stays down: longer than its session, so that it is missed.
const DOWN: &str = "3s";

/// The brokers that hold every key, the leader first; a schedule of this kind knows three.
pub(super) fn assignment(replicas: u32) -> Vec<u32> {
    (1..=replicas.clamp(1, 3)).collect()
}

fn steps(replicas: &[u32]) -> Vec<Value> {
    let mut steps = vec![json!({
        "when": "after 2s", "do": "kill", "with": {"aim": {"nodes": [1]}}, "for": DOWN,
    })];
    let followers = &replicas[1..];
    if !followers.is_empty() {
        steps.extend(leader_1_again());
        steps.extend(killed_while_followers_lag(followers));
    }
    for (fault, with) in [
        ("kill", json!({"aim": {"nodes": [1]}})),
        ("wipe", json!({"aim": {"nodes": [1]}})),
        ("power-loss", json!({"aim": {"nodes": [1]}, "survives": "nothing"})),
    ] {
        steps.extend(leader_1_again());
        steps.extend(alone(followers, &[1]));
        steps.push(json!({"when": "after 1500ms", "do": fault, "with": with, "for": DOWN}));
    }
    if let Some((majority, others)) = replicas.split_at_checked(2) {
        steps.extend(leader_1_again());
        steps.extend(alone(others, majority));
        steps.push(json!({
            "when": "after 1500ms", "do": "power-loss",
            "with": {"aim": {"nodes": majority}, "survives": "nothing"}, "for": DOWN,
        }));
    }
    steps.push(json!({"when": "healed and full", "within": "60s"}));
    steps
}

/// Twice: a controller may leave a partition whose only replica came back empty to the operator.
pub(super) fn leader_1_again() -> [Value; 4] {
    let election = |when: &str| json!({"when": when, "do": "preferred-election", "for": "10ms"});
    [
        election("healed and after 500ms"),
        json!({"when": "healed and full", "within": "60s"}),
        election("after 200ms"),
        json!({"when": format!("leader({KEY}) == 1"), "within": "10s"}),
    ]
}

/// What the leader acknowledges alone meanwhile is nowhere else, though the ISR is full.
fn killed_while_followers_lag(followers: &[u32]) -> [Value; 2] {
    [
        json!({
            "when": "full and after 1s", "within": "60s", "do": "cut",
            "with": {"from": {"nodes": followers}, "to": {"nodes": [1]}, "ways": "one-way"},
            "for": "1s",
        }),
        json!({"when": "after 500ms", "do": "kill", "with": {"aim": {"nodes": [1]}}, "for": DOWN}),
    ]
}

/// Replication of some is cut, heartbeats intact, until the ISR is what is left, and on until that
/// is gone, too.
fn alone(cut_off: &[u32], left: &[u32]) -> impl Iterator<Item = Value> {
    let cut = (!cut_off.is_empty()).then(|| {
        json!({
            "when": "after 1s", "do": "cut",
            "with": {"from": {"nodes": cut_off}, "to": {"nodes": [1]}, "ways": "one-way"},
            "until": format!("leader({KEY}) == none"), "within": "40s",
        })
    });
    let wait = json!({"when": format!("isr({KEY}) == {left:?}"), "within": "20s"});
    cut.into_iter().chain([wait])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_followers_are_cut_off() {
        let cut = |replicas| {
            let steps = steps(&assignment(replicas));
            let cuts = steps.iter().filter(|step| step["do"] == "cut");
            cuts.map(|step| step["with"]["from"]["nodes"].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(cut(1), [""; 0]);
        assert_eq!(cut(2), ["[2]"; 4]);
        assert_eq!(cut(3), ["[2,3]", "[2,3]", "[2,3]", "[2,3]", "[3]"]);
    }
}
