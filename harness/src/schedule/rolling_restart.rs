//! Every broker is restarted in turn under load: nothing is lost.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "rolling-restart",
            "about": "Graceful stop and start of each broker in turn.",
            "settings": {"options": {"time": "15s"}},
            "steps": [
                {"when": "after 1s", "do": "rolling-restart", "with": {"how": "stop"},
                 "until": "after 12s", "within": "30s"},
            ],
            "expect": [
                {"count": "anomalies.lost-write", "at_most": 0},
                {"count": "anomalies.duplicate", "at_most": 0},
            ],
        })
    },
};
