//! Every in-sync replica is down: the lagging one is elected, as the topic allows.

use serde_json::json;

use super::{Entry, all_isr_gone::without_isr};

/// This schedule.
pub static ENTRY: Entry = Entry {
    make: |_| {
        let about = "Every in-sync replica is down, and unclean elections are allowed: the \
                     lagging one leads, what it lacks is lost.";
        let topic = json!({"unclean.leader.election.enable": "true"});
        let then = vec![
            json!({"check": "leader(all-0) == $f", "within": "5s",
                   "claim": "the lagging replica is elected"}),
            json!({"when": "healed", "check": "isr_size(all-0) == 3", "within": "40s",
                   "claim": "the others cut their logs and follow"}),
        ];
        let lost = json!({"count": "permitted.lost-write", "at_least": 1});
        without_isr("all-isr-gone-unclean", about, topic, then, lost)
    },
};
