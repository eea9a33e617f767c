//! Every error code of Apache Kafka 4.3, by the name that its documentation uses.

use std::fmt;

macro_rules! error_codes {
    ($($code:literal $variant:ident $name:literal,)*) => {
        /// An answer's error code; the variants are Kafka's names in Rust's spelling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i16)]
        #[allow(missing_docs)] // the names are Kafka's own, and each says what it means
        pub enum ErrorCode {
            $($variant = $code,)*
        }

        impl ErrorCode {
            /// All codes in ascending order.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The code of this number; `None` when Kafka 4.3 has no such code.
            pub const fn from_code(code: i16) -> Option<ErrorCode> {
                match code {
                    $($code => Some(ErrorCode::$variant),)*
                    _ => None,
                }
            }

            /// Kafka's name, such as `NOT_ENOUGH_REPLICAS`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ErrorCode::$variant => $name,)*
                }
            }
        }
    };
}

impl ErrorCode {
    /// The number on the wire.
    pub const fn code(self) -> i16 {
        self as i16
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of a number for people: Kafka's, or `ERROR_<n>` for a code newer than this table.
pub fn error_name(code: i16) -> String {
    match ErrorCode::from_code(code) {
        Some(known) => known.name().to_owned(),
        None => format!("ERROR_{code}"),
    }
}

#[rustfmt::skip]
error_codes! {
    -1 UnknownServerError "UNKNOWN_SERVER_ERROR",
    0 None "NONE",
    1 OffsetOutOfRange "OFFSET_OUT_OF_RANGE",
    2 CorruptMessage "CORRUPT_MESSAGE",
    3 UnknownTopicOrPartition "UNKNOWN_TOPIC_OR_PARTITION",
    4 InvalidFetchSize "INVALID_FETCH_SIZE",
    5 LeaderNotAvailable "LEADER_NOT_AVAILABLE",
    6 NotLeaderOrFollower "NOT_LEADER_OR_FOLLOWER",
    7 RequestTimedOut "REQUEST_TIMED_OUT",
    8 BrokerNotAvailable "BROKER_NOT_AVAILABLE",
    9 ReplicaNotAvailable "REPLICA_NOT_AVAILABLE",
    10 MessageTooLarge "MESSAGE_TOO_LARGE",
    11 StaleControllerEpoch "STALE_CONTROLLER_EPOCH",
    12 OffsetMetadataTooLarge "OFFSET_METADATA_TOO_LARGE",
    13 NetworkException "NETWORK_EXCEPTION",
    14 CoordinatorLoadInProgress "COORDINATOR_LOAD_IN_PROGRESS",
    15 CoordinatorNotAvailable "COORDINATOR_NOT_AVAILABLE",
    16 NotCoordinator "NOT_COORDINATOR",
    17 InvalidTopicException "INVALID_TOPIC_EXCEPTION",
    18 RecordListTooLarge "RECORD_LIST_TOO_LARGE",
    19 NotEnoughReplicas "NOT_ENOUGH_REPLICAS",
    20 NotEnoughReplicasAfterAppend "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    21 InvalidRequiredAcks "INVALID_REQUIRED_ACKS",
    22 IllegalGeneration "ILLEGAL_GENERATION",
    23 InconsistentGroupProtocol "INCONSISTENT_GROUP_PROTOCOL",
    24 InvalidGroupId "INVALID_GROUP_ID",
    25 UnknownMemberId "UNKNOWN_MEMBER_ID",
    26 InvalidSessionTimeout "INVALID_SESSION_TIMEOUT",
    27 RebalanceInProgress "REBALANCE_IN_PROGRESS",
    28 InvalidCommitOffsetSize "INVALID_COMMIT_OFFSET_SIZE",
    29 TopicAuthorizationFailed "TOPIC_AUTHORIZATION_FAILED",
    30 GroupAuthorizationFailed "GROUP_AUTHORIZATION_FAILED",
    31 ClusterAuthorizationFailed "CLUSTER_AUTHORIZATION_FAILED",
    32 InvalidTimestamp "INVALID_TIMESTAMP",
    33 UnsupportedSaslMechanism "UNSUPPORTED_SASL_MECHANISM",
    34 IllegalSaslState "ILLEGAL_SASL_STATE",
    35 UnsupportedVersion "UNSUPPORTED_VERSION",
    36 TopicAlreadyExists "TOPIC_ALREADY_EXISTS",
    37 InvalidPartitions "INVALID_PARTITIONS",
    38 InvalidReplicationFactor "INVALID_REPLICATION_FACTOR",
    39 InvalidReplicaAssignment "INVALID_REPLICA_ASSIGNMENT",
    40 InvalidConfig "INVALID_CONFIG",
    41 NotController "NOT_CONTROLLER",
    42 InvalidRequest "INVALID_REQUEST",
    43 UnsupportedForMessageFormat "UNSUPPORTED_FOR_MESSAGE_FORMAT",
    44 PolicyViolation "POLICY_VIOLATION",
    45 OutOfOrderSequenceNumber "OUT_OF_ORDER_SEQUENCE_NUMBER",
    46 DuplicateSequenceNumber "DUPLICATE_SEQUENCE_NUMBER",
    47 InvalidProducerEpoch "INVALID_PRODUCER_EPOCH",
    48 InvalidTxnState "INVALID_TXN_STATE",
    49 InvalidProducerIdMapping "INVALID_PRODUCER_ID_MAPPING",
    50 InvalidTransactionTimeout "INVALID_TRANSACTION_TIMEOUT",
    51 ConcurrentTransactions "CONCURRENT_TRANSACTIONS",
    52 TransactionCoordinatorFenced "TRANSACTION_COORDINATOR_FENCED",
    53 TransactionalIdAuthorizationFailed "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    54 SecurityDisabled "SECURITY_DISABLED",
    55 OperationNotAttempted "OPERATION_NOT_ATTEMPTED",
    56 KafkaStorageError "KAFKA_STORAGE_ERROR",
    57 LogDirNotFound "LOG_DIR_NOT_FOUND",
    58 SaslAuthenticationFailed "SASL_AUTHENTICATION_FAILED",
    59 UnknownProducerId "UNKNOWN_PRODUCER_ID",
    60 ReassignmentInProgress "REASSIGNMENT_IN_PROGRESS",
    61 DelegationTokenAuthDisabled "DELEGATION_TOKEN_AUTH_DISABLED",
    62 DelegationTokenNotFound "DELEGATION_TOKEN_NOT_FOUND",
    63 DelegationTokenOwnerMismatch "DELEGATION_TOKEN_OWNER_MISMATCH",
    64 DelegationTokenRequestNotAllowed "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
    65 DelegationTokenAuthorizationFailed "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
    66 DelegationTokenExpired "DELEGATION_TOKEN_EXPIRED",
    67 InvalidPrincipalType "INVALID_PRINCIPAL_TYPE",
    68 NonEmptyGroup "NON_EMPTY_GROUP",
    69 GroupIdNotFound "GROUP_ID_NOT_FOUND",
    70 FetchSessionIdNotFound "FETCH_SESSION_ID_NOT_FOUND",
    71 InvalidFetchSessionEpoch "INVALID_FETCH_SESSION_EPOCH",
    72 ListenerNotFound "LISTENER_NOT_FOUND",
    73 TopicDeletionDisabled "TOPIC_DELETION_DISABLED",
    74 FencedLeaderEpoch "FENCED_LEADER_EPOCH",
    75 UnknownLeaderEpoch "UNKNOWN_LEADER_EPOCH",
    76 UnsupportedCompressionType "UNSUPPORTED_COMPRESSION_TYPE",
    77 StaleBrokerEpoch "STALE_BROKER_EPOCH",
    78 OffsetNotAvailable "OFFSET_NOT_AVAILABLE",
    79 MemberIdRequired "MEMBER_ID_REQUIRED",
    80 PreferredLeaderNotAvailable "PREFERRED_LEADER_NOT_AVAILABLE",
    81 GroupMaxSizeReached "GROUP_MAX_SIZE_REACHED",
    82 FencedInstanceId "FENCED_INSTANCE_ID",
    83 EligibleLeadersNotAvailable "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    84 ElectionNotNeeded "ELECTION_NOT_NEEDED",
    85 NoReassignmentInProgress "NO_REASSIGNMENT_IN_PROGRESS",
    86 GroupSubscribedToTopic "GROUP_SUBSCRIBED_TO_TOPIC",
    87 InvalidRecord "INVALID_RECORD",
    88 UnstableOffsetCommit "UNSTABLE_OFFSET_COMMIT",
    89 ThrottlingQuotaExceeded "THROTTLING_QUOTA_EXCEEDED",
    90 ProducerFenced "PRODUCER_FENCED",
    91 ResourceNotFound "RESOURCE_NOT_FOUND",
    92 DuplicateResource "DUPLICATE_RESOURCE",
    93 UnacceptableCredential "UNACCEPTABLE_CREDENTIAL",
    94 InconsistentVoterSet "INCONSISTENT_VOTER_SET",
    95 InvalidUpdateVersion "INVALID_UPDATE_VERSION",
    96 FeatureUpdateFailed "FEATURE_UPDATE_FAILED",
    97 PrincipalDeserializationFailure "PRINCIPAL_DESERIALIZATION_FAILURE",
    98 SnapshotNotFound "SNAPSHOT_NOT_FOUND",
    99 PositionOutOfRange "POSITION_OUT_OF_RANGE",
    100 UnknownTopicId "UNKNOWN_TOPIC_ID",
    101 DuplicateBrokerRegistration "DUPLICATE_BROKER_REGISTRATION",
    102 BrokerIdNotRegistered "BROKER_ID_NOT_REGISTERED",
    103 InconsistentTopicId "INCONSISTENT_TOPIC_ID",
    104 InconsistentClusterId "INCONSISTENT_CLUSTER_ID",
    105 TransactionalIdNotFound "TRANSACTIONAL_ID_NOT_FOUND",
    106 FetchSessionTopicIdError "FETCH_SESSION_TOPIC_ID_ERROR",
    107 IneligibleReplica "INELIGIBLE_REPLICA",
    108 NewLeaderElected "NEW_LEADER_ELECTED",
    109 OffsetMovedToTieredStorage "OFFSET_MOVED_TO_TIERED_STORAGE",
    110 FencedMemberEpoch "FENCED_MEMBER_EPOCH",
    111 UnreleasedInstanceId "UNRELEASED_INSTANCE_ID",
    112 UnsupportedAssignor "UNSUPPORTED_ASSIGNOR",
    113 StaleMemberEpoch "STALE_MEMBER_EPOCH",
    114 MismatchedEndpointType "MISMATCHED_ENDPOINT_TYPE",
    115 UnsupportedEndpointType "UNSUPPORTED_ENDPOINT_TYPE",
    116 UnknownControllerId "UNKNOWN_CONTROLLER_ID",
    117 UnknownSubscriptionId "UNKNOWN_SUBSCRIPTION_ID",
    118 TelemetryTooLarge "TELEMETRY_TOO_LARGE",
    119 InvalidRegistration "INVALID_REGISTRATION",
    120 TransactionAbortable "TRANSACTION_ABORTABLE",
    121 InvalidRecordState "INVALID_RECORD_STATE",
    122 ShareSessionNotFound "SHARE_SESSION_NOT_FOUND",
    123 InvalidShareSessionEpoch "INVALID_SHARE_SESSION_EPOCH",
    124 FencedStateEpoch "FENCED_STATE_EPOCH",
    125 InvalidVoterKey "INVALID_VOTER_KEY",
    126 DuplicateVoter "DUPLICATE_VOTER",
    127 VoterNotFound "VOTER_NOT_FOUND",
    128 InvalidRegularExpression "INVALID_REGULAR_EXPRESSION",
    129 RebootstrapRequired "REBOOTSTRAP_REQUIRED",
    130 StreamsInvalidTopology "STREAMS_INVALID_TOPOLOGY",
    131 StreamsInvalidTopologyEpoch "STREAMS_INVALID_TOPOLOGY_EPOCH",
    132 StreamsTopologyFenced "STREAMS_TOPOLOGY_FENCED",
    133 ShareSessionLimitReached "SHARE_SESSION_LIMIT_REACHED",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_found_by_its_number_and_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        for &code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(code.code()), Some(code));
        }
        assert!(ErrorCode::ALL.is_sorted());
    }

    #[test]
    fn a_code_of_a_later_kafka_has_a_printable_name() {
        assert_eq!(ErrorCode::from_code(9_999), None);
        assert_eq!(error_name(9_999), "ERROR_9999");
        assert_eq!(error_name(19), "NOT_ENOUGH_REPLICAS");
    }
}
