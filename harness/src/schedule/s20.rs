//! All brokers die and come back, twice; then in the order that loses most.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s20",
            "about": "All brokers are killed and started, twice; then the leader first and the \
                      follower that is behind last, which starts first.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "6000"},
                "assignment": [1, 2, 3],
                "options": {"time": "30s"},
            },
            "steps": [
                {"when": "after 1500ms", "do": "kill", "with": {"aim": "all"}, "for": "3s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "do": "kill", "with": {"aim": "all"}, "for": "3s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "let": {"l": "leader(all-0)", "f": "follower(all-0)"},
                 "do": "slow-link",
                 "with": {"from": {"nodes": ["$l"]}, "to": {"not": {"nodes": ["$l"]}},
                          "ways": "one-way", "delay_ms": 300}, "for": "2s"},
                {"when": "after 1s", "do": "kill", "with": {"aim": {"nodes": ["$l"]}}, "for": "9s"},
                {"do": "kill", "with": {"aim": {"not": {"nodes": ["$l", "$f"]}}}, "for": "7s"},
                {"when": "isr(all-0) == [$f]", "within": "5s"},
                {"do": "kill", "with": {"aim": {"nodes": ["$f"]}}, "for": "2s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
