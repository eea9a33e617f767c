//! The leader is killed: an ISR member takes over and nothing is lost.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "leader-failover",
            "about": "The leader is killed, an in-sync replica is elected, the old one follows.",
            "settings": {
                "assignment": [1, 2, 3],
                "options": {"partitions": "1", "time": "10s"},
            },
            "steps": [
                {"when": "after 1s",
                 "let": {"l": "leader(all-0)", "e": "leader_epoch(all-0)", "isr": "isr(all-0)"},
                 "do": "kill", "with": {"aim": {"nodes": ["$l"]}}, "for": "4s"},
                {"check": "leader(all-0) != $l and leader(all-0) in $isr", "within": "4s",
                 "claim": "a member of the ISR is elected"},
                {"check": "leader_epoch(all-0) == $e + 1", "within": "1s",
                 "claim": "under the next leader epoch"},
                {"when": "healed", "check": "$l in isr(all-0)", "within": "15s",
                 "claim": "the old leader follows and is in sync again"},
            ],
            "expect": [{"count": "anomalies.lost-write", "at_most": 0}],
        })
    },
};
