//! Brokers stop in an orderly way under load, one by one and in turn.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s21",
            "about": "Brokers are stopped and started in turn under load: followers, leaders, all \
                      of them.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "6000"},
                "assignment": [1, 2, 3],
                "options": {"time": "25s"},
            },
            "steps": [
                {"when": "after 1500ms", "let": {"f": "follower(all-0)"}, "do": "stop",
                 "with": {"aim": {"nodes": ["$f"]}}, "for": "5s"},
                {"check": "$f not in isr(all-0)", "within": "3s",
                 "claim": "a follower that stops leaves the ISR"},
                {"when": "after 1s", "let": {"hw": "hw(all-0)"}},
                {"check": "hw(all-0) > $hw", "within": "2s",
                 "claim": "the high watermark goes on at once, without a wait for the lag limit"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
                {"when": "after 1s", "let": {"l": "leader(all-0)"}, "do": "stop",
                 "with": {"aim": {"nodes": ["$l"]}}, "for": "4s"},
                {"check": "leader(all-0) != $l and leader(all-0) != none", "within": "3s",
                 "claim": "a leader that stops hands over"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s",
                 "do": "rolling-restart", "with": {"how": "stop"}, "until": "after 8s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "anomalies.duplicate", "at_most": 0},
            ],
        })
    },
};
