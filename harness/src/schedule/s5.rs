//! The leader's ISR change never reaches the controllers: who it would drop is elected.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s5",
            "about": "A follower gets nothing; just before the lag limit the leader is cut from \
                      the controllers, so that its ISR change never lands and the lagging follower \
                      is elected.",
            "settings": {
                "broker": {"replica.lag.time.max.ms": "1000", "broker.session.timeout.ms": "4000"},
                "client": {
                    "request_ms": 10_000,
                    "slack_ms": 500,
                    "delivery_ms": 20_000,
                    "poll_wait_ms": 50,
                },
                "assignment": [1, 2, 3],
                "options": {"time": "25s"},
            },
            "repeat": true,
            "steps": [
                {"when": "after 1500ms", "let": {"l": "leader(all-0)", "f": "follower(all-0)"},
                 "do": "cut", "with": {"from": {"nodes": ["$f"]}, "to": {"nodes": ["$l"]}},
                 "for": "9s"},
                {"when": "after 700ms", "do": "cut",
                 "with": {"from": {"nodes": ["$l"]}, "to": "controllers"}, "for": "8s"},
                {"when": "leader(all-0) == $f", "within": "8s"},
                {"when": "healed and isr_size(all-0) == 3", "within": "60s"},
            ],
        })
    },
};
