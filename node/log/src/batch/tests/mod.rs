//! Tests of batches: round trips, hostile bytes, and what a leader refuses.

mod format;
mod validation;

use bytes::Bytes;

use super::{Batch, BatchBuilder, Codec};

/// A client's batch of these values, all at time 1,000.
pub(super) fn client_batch(codec: Codec, values: &[&str]) -> Bytes {
    let mut builder = BatchBuilder::new().codec(codec);
    for value in values {
        builder.push(1_000, Some(b"k"), Some(value.as_bytes()), &[]);
    }
    builder.build()
}

pub(super) fn view(mut bytes: Bytes) -> Batch {
    Batch::split_from(&mut bytes).unwrap()
}
