//! The error codes of the Kafka protocol that the core's decisions can end in.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Why a request was refused; the number is the one that goes over the wire.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        pub enum ErrorCode {
            $($(#[$doc])* $name = $code,)*
        }

        impl fmt::Display for ErrorCode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(ErrorCode::$name => $text,)*
                })
            }
        }
    };
}

codes! {
    /// The topic or partition is not known here.
    UnknownTopicOrPartition = 3, "UNKNOWN_TOPIC_OR_PARTITION";
    /// The topic's name is not legal.
    InvalidTopicException = 17, "INVALID_TOPIC_EXCEPTION";
    /// A topic of that name exists.
    TopicAlreadyExists = 36, "TOPIC_ALREADY_EXISTS";
    /// The number of partitions is not legal.
    InvalidPartitions = 37, "INVALID_PARTITIONS";
    /// The replication factor is not legal or cannot be had.
    InvalidReplicationFactor = 38, "INVALID_REPLICATION_FACTOR";
    /// The assignment of replicas is not legal.
    InvalidReplicaAssignment = 39, "INVALID_REPLICA_ASSIGNMENT";
    /// A configuration's name or value is not legal.
    InvalidConfig = 40, "INVALID_CONFIG";
    /// This node is not the active controller, or knows less than the caller (rule 22).
    NotController = 41, "NOT_CONTROLLER";
    /// The request contradicts itself or the protocol.
    InvalidRequest = 42, "INVALID_REQUEST";
    /// A limit that the operator set forbids it.
    PolicyViolation = 44, "POLICY_VIOLATION";
    /// The caller's leader epoch is over (rule 12).
    FencedLeaderEpoch = 74, "FENCED_LEADER_EPOCH";
    /// The caller's leader epoch is not known here yet (rule 12).
    UnknownLeaderEpoch = 75, "UNKNOWN_LEADER_EPOCH";
    /// The caller's broker epoch is over (rule 32).
    StaleBrokerEpoch = 77, "STALE_BROKER_EPOCH";
    /// The preferred leader is dead or not in sync.
    PreferredLeaderNotAvailable = 80, "PREFERRED_LEADER_NOT_AVAILABLE";
    /// No replica may be elected.
    EligibleLeadersNotAvailable = 83, "ELIGIBLE_LEADERS_NOT_AVAILABLE";
    /// The partition is led as asked already.
    ElectionNotNeeded = 84, "ELECTION_NOT_NEEDED";
    /// There is no reassignment to cancel.
    NoReassignmentInProgress = 85, "NO_REASSIGNMENT_IN_PROGRESS";
    /// The partition epoch is over (rule 22).
    InvalidUpdateVersion = 95, "INVALID_UPDATE_VERSION";
    /// The topic id is not known here (rule 76).
    UnknownTopicId = 100, "UNKNOWN_TOPIC_ID";
    /// Another live process has this broker's id (rule 32).
    DuplicateBrokerRegistration = 101, "DUPLICATE_BROKER_REGISTRATION";
    /// No broker of this id is registered.
    BrokerIdNotRegistered = 102, "BROKER_ID_NOT_REGISTERED";
    /// The caller belongs to another cluster (rule 32).
    InconsistentClusterId = 104, "INCONSISTENT_CLUSTER_ID";
    /// A replica of the proposed ISR may not be in it (rule 23).
    IneligibleReplica = 107, "INELIGIBLE_REPLICA";
    /// The caller cannot work at the cluster's feature levels.
    UnsupportedVersion = 35, "UNSUPPORTED_VERSION";
    /// This node does not lead the partition.
    NotLeaderOrFollower = 6, "NOT_LEADER_OR_FOLLOWER";
    /// The offset lies outside the log (rule 7).
    OffsetOutOfRange = 1, "OFFSET_OUT_OF_RANGE";
}

impl ErrorCode {
    /// The number on the wire.
    pub fn code(self) -> i16 {
        self as i16
    }
}

/// A refused request: a code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The error code of the answer.
    pub code: ErrorCode,
    /// What is wrong and, where it helps, what to do.
    pub message: String,
}

impl Refusal {
    /// A refusal with this code and sentence.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }
}
