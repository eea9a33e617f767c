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
    /// A request could not be read or is not served here; its connection was closed.
    RequestRefused {
        /// Who sent it.
        peer: String,
        /// What was wrong with it.
        why: String,
    },
    /// The controller took this broker in (rule 32).
    Registered {
        /// The epoch of this incarnation.
        broker_epoch: i64,
    },
    /// The controller did not take this broker in; it is asked again.
    RegistrationRefused {
        /// Its error, or why none came.
        why: String,
    },
    /// The controller lets this broker lead and follow.
    Unfenced,
}
