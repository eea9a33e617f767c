//! Answers of brokers to clients are lost, requests go through; then the links heal.

use serde_json::json;

use super::Entry;

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        json!({
            "format": 1,
            "name": "s8",
            "about": "Only broker to client is cut: responses are lost, then the link heals.",
            "settings": {"options": {"idempotence": "on"}},
            "repeat": true,
            "steps": [
                {"when": "after 1s", "do": "reply-loss", "with": {"aim": "leader"}, "for": "1s"},
                {"when": "healed and after 2500ms"},
            ],
        })
    },
};
