//! A killed follower leaves the ISR by its session, not by the lag limit.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "follower-dead",
            "about": "A follower is killed: fencing takes it out of the ISR.",
            "settings": {
                "broker": {
                    "replica.lag.time.max.ms": "6000", "broker.session.timeout.ms": "1500",
                },
                "assignment": [1, 2, 3],
                "options": {"acks": "all", "partitions": "1", "time": "12s"},
            },
            "steps": [
                {"when": "after 1s", "let": {"f": "follower(all-0)"},
                 "do": "kill", "with": {"aim": {"nodes": ["$f"]}}, "for": "4s"},
                {"always": "$f in isr(all-0)", "for": "800ms",
                 "claim": "it stays for its session"},
                {"check": "$f not in isr(all-0)", "within": "2200ms",
                 "claim": "it leaves by fencing, long before the lag limit"},
                {"when": "healed", "check": "$f in isr(all-0)", "within": "15s",
                 "claim": "after the restart it is back"},
            ],
        })
    },
};
