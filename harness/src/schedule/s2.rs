//! Two leaders die one after the other, while the third replica is behind.
//!
//! At first the third replica is ahead of the next leader; the second time, it has not heard of the
//! newest high watermark.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s2",
            "about": "The leader is killed, then the next one before its follower has copied from \
                      it; the links between them are slow.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "6000"},
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "producers": "16", "time": "30s"},
            },
            "repeat": true,
            "steps": [
                {"when": "after 1500ms",
                 "let": {"old": "leader(all-0)", "next": "follower(all-0)"}, "do": "slow-link",
                 "with": {"from": {"nodes": ["$old"]}, "to": {"nodes": ["$next"]},
                          "ways": "one-way", "delay_ms": 60}, "for": "3s"},
                {"do": "slow-link",
                 "with": {"from": {"nodes": ["$old"]}, "to": {"not": {"nodes": ["$old", "$next"]}},
                          "ways": "one-way", "delay_ms": 30}, "for": "3s"},
                {"do": "slow-link",
                 "with": {"from": {"nodes": ["$next"]},
                          "to": {"not": {"nodes": ["$old", "$next"]}}, "ways": "one-way",
                          "bytes_per_s": 4000}, "for": "7s"},
                {"when": "after 1s", "do": "kill", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "7s"},
                {"when": "leader(all-0) == $next", "within": "5s"},
                {"when": "after 300ms", "do": "kill", "with": {"aim": {"nodes": ["$next"]}},
                 "for": "4s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1500ms",
                 "let": {"old": "leader(all-0)", "next": "follower(all-0)"}, "do": "slow-link",
                 "with": {"from": {"nodes": ["$old"]}, "to": {"nodes": ["$next"]},
                          "ways": "one-way", "delay_ms": 400}, "for": "4s"},
                {"do": "slow-link",
                 "with": {"from": {"nodes": ["$next"]},
                          "to": {"not": {"nodes": ["$old", "$next"]}}, "ways": "one-way",
                          "bytes_per_s": 4000}, "for": "7s"},
                {"when": "after 1500ms", "do": "cut",
                 "with": {"from": {"nodes": ["$old"]}, "to": {"not": {"nodes": ["$old", "$next"]}},
                          "ways": "one-way"}, "for": "3s"},
                {"when": "after 700ms", "do": "kill", "with": {"aim": {"nodes": ["$old"]}},
                 "for": "7s"},
                {"when": "leader(all-0) == $next", "within": "5s"},
                {"when": "after 300ms", "do": "kill", "with": {"aim": {"nodes": ["$next"]}},
                 "for": "4s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
