//! The records of the metadata log: Kafka's schemas, byte for byte.
//!
//! A record's value is a frame version (1), the record's key, its version, and its fields. It is
//! written in the lowest version that can express it, which is what Kafka's controller does too.

mod control;
mod field;
mod records;
mod schema;

use bytes::Bytes;
use thiserror::Error;

pub use control::{ControlError, ControlRecord};
pub use records::*;

use crate::varint;
use schema::RecordBody;

/// The version of the frame around each record.
const FRAME_VERSION: u32 = 1;

/// Why a metadata record could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The value ends before the record does, or a length in it exceeds what is left.
    #[error("the metadata record is longer than its value")]
    Truncated,
    /// The frame is of a later format.
    #[error("metadata record frame version {0} is unknown")]
    Frame(u32),
    /// No record that we know has this key; a reader may skip it.
    #[error("metadata record key {0} is unknown")]
    Key(u32),
    /// The record is of a later version than we know.
    #[error("metadata record {key} version {version} is unknown")]
    Version {
        /// The record's key.
        key: u32,
        /// Its version.
        version: u32,
    },
    /// A text that is not UTF-8, or null where it may not be.
    #[error("metadata record holds a malformed text or a null")]
    Malformed,
}

macro_rules! metadata_records {
    ($($(#[$doc:meta])* $variant:ident($body:ident),)*) => {
        /// One record of the metadata log.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum MetadataRecord {
            $($(#[$doc])* $variant($body),)*
        }

        impl MetadataRecord {
            /// Kafka's name of the record, such as `PARTITION_CHANGE_RECORD`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(MetadataRecord::$variant(_) => $body::NAME,)*
                }
            }

            /// The value of a log record.
            pub fn encode(&self) -> Bytes {
                match self {
                    $(MetadataRecord::$variant(body) => frame(body),)*
                }
            }

            /// Reads the value of a log record; unknown tagged fields are skipped.
            pub fn decode(mut value: &[u8]) -> Result<MetadataRecord, RecordError> {
                let mut next = || varint::get(&mut value).ok_or(RecordError::Truncated);
                let (frame, key, version) = (next()?, next()?, next()?);
                if frame != FRAME_VERSION {
                    return Err(RecordError::Frame(frame));
                }
                match key {
                    $($body::KEY => {
                        $body::read(version, &mut value).map(MetadataRecord::$variant)
                    })*
                    _ => Err(RecordError::Key(key)),
                }
            }
        }

        $(impl From<$body> for MetadataRecord {
            fn from(body: $body) -> MetadataRecord {
                MetadataRecord::$variant(body)
            }
        })*
    };
}

metadata_records! {
    /// A broker process registered.
    RegisterBroker(RegisterBrokerRecord),
    /// A broker left the cluster for good.
    UnregisterBroker(UnregisterBrokerRecord),
    /// A topic came to be.
    Topic(TopicRecord),
    /// A partition came to be.
    Partition(PartitionRecord),
    /// A configuration was set or removed.
    Config(ConfigRecord),
    /// A partition changed.
    PartitionChange(PartitionChangeRecord),
    /// A broker was fenced (before Kafka 3.3).
    FenceBroker(FenceBrokerRecord),
    /// A broker was unfenced (before Kafka 3.3).
    UnfenceBroker(UnfenceBrokerRecord),
    /// A topic is gone.
    RemoveTopic(RemoveTopicRecord),
    /// A feature's level was finalized.
    FeatureLevel(FeatureLevelRecord),
    /// A block of producer ids was given away.
    ProducerIds(ProducerIdsRecord),
    /// A broker was fenced, unfenced, or began its controlled shutdown.
    BrokerRegistrationChange(BrokerRegistrationChangeRecord),
    /// Nothing changed.
    NoOp(NoOpRecord),
    /// The records up to the matching end apply together.
    BeginTransaction(BeginTransactionRecord),
    /// The records since the beginning apply now.
    EndTransaction(EndTransactionRecord),
    /// The records since the beginning never apply.
    AbortTransaction(AbortTransactionRecord),
    /// A controller process registered.
    RegisterController(RegisterControllerRecord),
    /// The eligible leader replicas of a topic, or of all, were cleared.
    ClearElr(ClearElrRecord),
}

fn frame<R: RecordBody>(body: &R) -> Bytes {
    let mut out = Vec::new();
    varint::put(&mut out, FRAME_VERSION);
    varint::put(&mut out, R::KEY);
    let version = body.version();
    varint::put(&mut out, version);
    body.put(version, &mut out);
    out.into()
}

#[cfg(test)]
mod tests;
