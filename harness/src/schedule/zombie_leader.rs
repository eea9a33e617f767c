//! An isolated leader takes acks=1 writes that vanish; no acknowledged acks=all write is lost.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "zombie-leader",
            "about": "The leader is isolated while clients stay attached.",
            "settings": {
                "client": {
                    "request_ms": 10_000, "slack_ms": 500, "delivery_ms": 20_000,
                    "poll_wait_ms": 50,
                },
                "assignment": [1, 2, 3],
                "options": {"acks": "mix", "partitions": "1", "time": "12s"},
            },
            "steps": [
                {"when": "after 1500ms", "let": {"l": "leader(one-0)"}, "do": "isolate",
                 "with": {"aim": {"nodes": ["$l"]}, "from": ["brokers", "controllers"]},
                 "for": "4s"},
                {"check": "leader(one-0) != $l", "within": "4s",
                 "claim": "the others elect a leader of their own"},
                {"when": "healed", "check": "$l in isr(one-0)", "within": "15s",
                 "claim": "the old leader follows and is in sync again"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_least": 1},
            ],
        })
    },
};
