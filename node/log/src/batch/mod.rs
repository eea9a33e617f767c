//! Kafka's record batches (magic 2): reading without a copy, building, patching, validating.

mod builder;
mod codec;
mod error;
mod header;
mod patch;
mod record;
mod snappy;
mod validate;
mod varint;
mod view;

#[cfg(test)]
mod tests;

pub use builder::BatchBuilder;
pub use codec::Codec;
pub use error::BatchError;
pub(crate) use header::add_sequence;
pub use header::{
    BatchHeader, HEADER_BYTES, NO_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE,
    NO_TIMESTAMP, TimestampType,
};
pub use patch::stamp;
pub use record::{Record, RecordHeader, Records};
pub use validate::{Policy, Refusal, Validated, validate};
pub use view::{Batch, Batches};
