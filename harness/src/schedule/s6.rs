//! Power losses of ever more brokers, and of two leaders in turn.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s6",
            "about": "Power loss of one broker, of the leader, of a majority, of all, and of the \
                      leader and then of the next one.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "6000"},
                "assignment": [1, 2, 3],
                "options": {"time": "40s"},
            },
            "steps": [
                {"when": "after 1500ms", "do": "power-loss", "with": {"aim": "one"},
                 "for": "2500ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "do": "power-loss",
                 "with": {"aim": {"role": "leader", "of": "all-0"}}, "for": "2500ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "do": "power-loss", "with": {"aim": "majority"},
                 "for": "2500ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "do": "power-loss", "with": {"aim": "all"}, "for": "2500ms"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "let": {"old": "leader(all-0)"}, "do": "power-loss",
                 "with": {"aim": {"nodes": ["$old"]}}, "for": "6s"},
                {"when": "leader(all-0) != $old and leader(all-0) != none", "within": "5s"},
                {"when": "after 500ms", "do": "power-loss",
                 "with": {"aim": {"role": "leader", "of": "all-0"}}, "for": "3s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
