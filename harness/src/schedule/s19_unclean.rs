//! The ISR shrinks to the leader, which is killed; unclean elections are allowed.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s19-unclean",
            "about": "As S19, and unclean elections are allowed: while the leader is down another \
                      one is elected.",
            "settings": {
                "assignment": [1, 2, 3],
                "topic": {"unclean.leader.election.enable": "true"},
                "options": {"time": "20s"},
            },
            "repeat": true,
            "steps": [
                {"when": "after 1500ms", "let": {"old": "leader(all-0)"}, "do": "cut",
                 "with": {"from": {"role": "followers", "of": "all-0"},
                          "to": {"role": "leader", "of": "all-0"}, "ways": "one-way"}, "for": "8s"},
                {"when": "isr(all-0) == [$old]", "within": "6s"},
                {"when": "after 1s", "do": "kill", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "4s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
