//! The node's log: one JSON line for each event that matters to someone who asks what happened.

use serde::Serialize;

/// One line of the node's log; the shell adds `time` (Unix milliseconds) and `node`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Something that an operator should read; never part of normal running.
    Warning {
        /// What, where, what to do.
        text: String,
    },
}
