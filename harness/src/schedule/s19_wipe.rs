//! The ISR shrinks to the leader, which writes on and then loses its disk.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s19-wipe",
            "about": "As S19, and then the leader, alone in the ISR, loses its disk.",
            "settings": {"assignment": [1, 2, 3], "options": {"time": "20s"}},
            "repeat": true,
            "steps": [
                {"when": "after 1500ms", "let": {"old": "leader(all-0)"}, "do": "cut",
                 "with": {"from": {"role": "followers", "of": "all-0"},
                          "to": {"role": "leader", "of": "all-0"}, "ways": "one-way"}, "for": "8s"},
                {"when": "isr(all-0) == [$old]", "within": "6s"},
                {"when": "after 1s", "do": "wipe", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "4s"},
                // A controller may leave a sole replica that came back empty to the operator.
                {"when": "healed and after 1s", "do": "preferred-election", "for": "10ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
