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
    /// This controller leads the metadata quorum.
    QuorumLeader {
        /// Its epoch.
        epoch: i32,
    },
    /// The copy of the metadata log was cut to match the controller's (rule 9).
    MetadataTruncated {
        /// Its new end.
        to: i64,
    },
    /// A broker process registered with this controller.
    BrokerRegistered {
        /// Its id.
        broker: i32,
        /// The epoch of its registration.
        broker_epoch: i64,
    },
    /// A broker was fenced: it leads nothing and is in no ISR but as the last member (rule 33).
    BrokerFenced {
        /// Its id.
        broker: i32,
    },
    /// A broker may lead and follow.
    BrokerUnfenced {
        /// Its id.
        broker: i32,
    },
    /// A broker hands over its leaderships, to stop.
    BrokerStopping {
        /// Its id.
        broker: i32,
    },
    /// A partition's committed leader or ISR changed.
    PartitionChanged {
        /// Topic, `-`, index.
        partition: String,
        /// The new leader, -1 for none; absent when it did not change.
        #[serde(skip_serializing_if = "Option::is_none")]
        leader: Option<i32>,
        /// The new ISR; absent when it did not change.
        #[serde(skip_serializing_if = "Option::is_none")]
        isr: Option<Vec<i32>>,
        /// True when the leader was elected from outside the ISR (rule 28).
        unclean: bool,
    },
}
