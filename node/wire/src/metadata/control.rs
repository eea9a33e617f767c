//! The control records that a quorum writes into its log beside the metadata (KIP-595, KIP-853).

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::protocol::{Decodable, Encodable};
use thiserror::Error;

use crate::guard;
use crate::messages::{
    KRaftVersionRecord, LeaderChangeMessage, SnapshotFooterRecord, SnapshotHeaderRecord,
    VotersRecord,
};

/// The version of a control record's key.
const KEY_VERSION: i16 = 0;
/// The version in which all of them are written.
const VERSION: i16 = 0;

/// Why a control record could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// The key is not that of a quorum's control record; a reader may skip it.
    #[error("control record type {0} is unknown")]
    Type(i16),
    /// The key or the value is cut short or broken.
    #[error("malformed control record: {0}")]
    Malformed(String),
}

macro_rules! control_records {
    ($($(#[$doc:meta])* $variant:ident($body:ident) = $kind:literal,)*) => {
        /// One control record of a quorum's log.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ControlRecord {
            $($(#[$doc])* $variant($body),)*
        }

        impl ControlRecord {
            /// The number of its type, in the key.
            pub fn kind(&self) -> i16 {
                match self {
                    $(ControlRecord::$variant(_) => $kind,)*
                }
            }

            /// The value of a log record.
            pub fn value(&self) -> Bytes {
                match self {
                    $(ControlRecord::$variant(body) => encode(body),)*
                }
            }

            /// Reads key and value of a log record in a control batch.
            pub fn decode(mut key: &[u8], value: Bytes) -> Result<ControlRecord, ControlError> {
                let mut next = || key.try_get_i16().map_err(|why| malformed(&why));
                let (_version, kind) = (next()?, next()?);
                match kind {
                    $($kind => decode(stringify!($body), value).map(ControlRecord::$variant),)*
                    _ => Err(ControlError::Type(kind)),
                }
            }
        }
    };
}

control_records! {
    /// A leader took office.
    LeaderChange(LeaderChangeMessage) = 2,
    /// A snapshot begins.
    SnapshotHeader(SnapshotHeaderRecord) = 3,
    /// A snapshot ends.
    SnapshotFooter(SnapshotFooterRecord) = 4,
    /// The quorum's own feature level.
    KRaftVersion(KRaftVersionRecord) = 5,
    /// The voters.
    Voters(VotersRecord) = 6,
}

impl ControlRecord {
    /// The key of a log record.
    pub fn key(&self) -> Bytes {
        let mut key = BytesMut::with_capacity(4);
        key.put_i16(KEY_VERSION);
        key.put_i16(self.kind());
        key.freeze()
    }
}

fn encode<M: Encodable>(body: &M) -> Bytes {
    let mut out = BytesMut::new();
    body.encode(&mut out, VERSION).expect("version 0 expresses what a control record holds");
    out.freeze()
}

fn decode<M: Decodable>(name: &str, mut value: Bytes) -> Result<M, ControlError> {
    guard::check_data(name, &value).map_err(|why| malformed(&why))?;
    M::decode(&mut value, VERSION).map_err(|why| malformed(&why))
}

fn malformed(why: &impl std::fmt::Display) -> ControlError {
    ControlError::Malformed(why.to_string())
}
