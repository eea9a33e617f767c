//! Every in-sync replica is down: the lagging one is elected, as the topic allows.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "all-isr-gone-unclean",
            "about": "Every in-sync replica is down, and unclean elections are allowed: the \
                      lagging one leads, what it lacks is lost.",
            "settings": {
                "topic": {"unclean.leader.election.enable": "true"},
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "15s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"l": "leader(all-0)", "f": "follower(all-0)"},
                 "do": "cut",
                 "with": {"from": {"nodes": ["$f"]}, "to": {"nodes": ["$l"]}, "ways": "one-way"},
                 "for": "10s"},
                {"when": "$f not in isr(all-0)", "within": "5s"},
                {"when": "after 500ms", "do": "kill", "with": {"aim": {"not": {"nodes": ["$f"]}}},
                 "for": "6s"},
                {"check": "leader(all-0) == $f", "within": "5s",
                 "claim": "the lagging replica is elected"},
                {"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
                 "claim": "the others cut their logs and follow"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_least": 1},
            ],
        })
    },
};
