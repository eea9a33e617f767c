//! The leader is cut off alone from brokers and controllers while clients stay attached.

use serde_json::{Value, json};

use super::{Ask, Entry};

/// This schedule.
pub static ENTRY: Entry = Entry { make };

/// The steps, also used for even seeds of S3.
pub(super) fn make(_: &Ask) -> Value {
    json!({
        "format": 1,
        "name": "s3a",
        "about": "Isolation of the leader alone, longer than session and election, shorter than \
                  the produce time-out; then heal.",
        "settings": {
            "client": {
                "request_ms": 10_000, "slack_ms": 500, "delivery_ms": 20_000, "poll_wait_ms": 50,
            },
            "assignment": [1, 2, 3],
        },
        "repeat": true,
        "steps": [
            {"when": "after 1500ms", "do": "isolate",
             "with": {"aim": {"role": "leader", "of": "all-0"}, "from": ["brokers", "controllers"]},
             "for": "4s"},
            {"when": "healed and after 6s"},
        ],
    })
}
