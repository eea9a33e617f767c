//! Leader and one follower are cut off from the other follower and the controllers.

use serde_json::{Value, json};

use super::{Ask, Entry};

/// This schedule.
pub static ENTRY: Entry = Entry { make };

/// The steps, also used for odd seeds of S3.
pub(super) fn make(_: &Ask) -> Value {
    json!({
        "format": 1,
        "name": "s3b",
        "about": "Leader and one follower on one side, the other follower and the controllers on \
                  the other, longer than session and election; then heal.",
        "settings": {
            "client": {
                "request_ms": 10_000, "slack_ms": 500, "delivery_ms": 20_000, "poll_wait_ms": 50,
            },
            "assignment": [1, 2, 3],
        },
        "repeat": true,
        "steps": [
            {"when": "after 1500ms", "do": "split",
             "with": {"side": [
                 {"role": "leader", "of": "all-0"}, {"role": "isr-member", "of": "all-0"},
             ]},
             "for": "4s"},
            {"when": "healed and after 6s"},
        ],
    })
}
