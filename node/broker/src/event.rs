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
    /// The controller does not answer this broker's heartbeats, or knows no such broker any more;
    /// it is asked again.
    HeartbeatRefused {
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
    /// This broker leads a partition.
    Leads {
        /// Topic, `-`, index.
        partition: String,
        /// Its epoch.
        leader_epoch: i32,
        /// Where the epoch begins.
        start_offset: i64,
        /// The high watermark that it starts from (rule 19).
        high_watermark: i64,
    },
    /// This broker follows a partition's leader.
    Follows {
        /// Topic, `-`, index.
        partition: String,
        /// Whom; -1 while there is no leader.
        leader: i32,
        /// The leader's epoch.
        leader_epoch: i32,
    },
    /// A replica's log was cut to match its leader's (rule 9).
    Truncated {
        /// Topic, `-`, index.
        partition: String,
        /// The log end before.
        from: i64,
        /// The log end after; what lay between is gone from this broker.
        to: i64,
        /// The high watermark before; a clean election never cuts below the true one (rule 14).
        high_watermark: i64,
    },
    /// The committed ISR of a partition that this broker leads changed.
    IsrChanged {
        /// Topic, `-`, index.
        partition: String,
        /// The members in assignment order.
        isr: Vec<i32>,
        /// The version of the partition's state.
        partition_epoch: i32,
    },
    /// A replica's log cannot be used any more.
    ReplicaFailed {
        /// Topic, `-`, index.
        partition: String,
    },
    /// A log ended in bytes that are no valid batch; they were cut off when it was opened.
    Recovered {
        /// Topic, `-`, index.
        partition: String,
        /// The log end after the cut.
        log_end: i64,
        /// How many bytes were cut off.
        cut_bytes: u64,
        /// What was wrong with them.
        reason: String,
    },
    /// A log that belongs to no partition of the metadata was renamed; it is kept until an operator
    /// removes it (rule 76).
    StraySetAside {
        /// Its directory before.
        dir: String,
        /// Its directory now.
        to: String,
    },
}
