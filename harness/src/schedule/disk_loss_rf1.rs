//! A broker loses its disk: with one replica all is lost that it had.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "disk-loss-rf1",
            "about": "A broker loses its disk, which held the only replica: what it had is lost.",
            "settings": {"options": {"acks": "all", "replication-factor": "1", "time": "12s"}},
            "steps": [
                {"when": "after 1500ms", "let": {"l": "leader(all-0)"}, "do": "wipe",
                 "with": {"aim": {"nodes": ["$l"]}}, "for": "3s"},
                // A controller may leave a sole replica that came back empty to the operator.
                {"when": "healed and after 1s", "do": "preferred-election", "for": "10ms"},
                {"when": "healed", "check": "leader(all-0) == $l", "within": "40s",
                 "claim": "it leads again, with an empty log"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "permitted.lost-write", "at_least": 1},
            ],
        })
    },
};
