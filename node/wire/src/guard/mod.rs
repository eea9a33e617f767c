//! The length guard: every count and length in a message is checked against what is left of it.
//!
//! The codec library reserves memory from counts that it reads off the wire, so one flipped bit can
//! ask for gigabytes. The guard walks a message by its schema without reserving anything; what it
//! lets through has as many elements as it claims, and no more than a limit.

pub(crate) mod schema;
mod walk;

use bytes::{Buf, Bytes};

use crate::codec::DecodeError;
use crate::messages::ApiKey;
use crate::varint;
use walk::Walk;

/// Elements (array items and tagged fields) that one request may hold. A decoded element takes up
/// to some 300 bytes, so this bounds what one request can make us hold beside its frame.
const MAX_REQUEST_ELEMENTS: usize = 1 << 17;
/// The same for a response: it comes from a peer that we chose, and may describe a whole cluster.
const MAX_RESPONSE_ELEMENTS: usize = 1 << 20;
/// The same for a control record.
const MAX_DATA_ELEMENTS: usize = 1 << 10;

/// Checks the body of a request.
pub(crate) fn check_request(api: ApiKey, version: i16, body: &[u8]) -> Result<(), DecodeError> {
    Walk::new(body, version, MAX_REQUEST_ELEMENTS).message(schema::request(api))
}

/// Checks the body of a response.
pub(crate) fn check_response(api: ApiKey, version: i16, body: &[u8]) -> Result<(), DecodeError> {
    Walk::new(body, version, MAX_RESPONSE_ELEMENTS).message(schema::response(api))
}

/// Checks the value of a control record, which begins with its own version.
pub(crate) fn check_data(name: &str, value: &[u8]) -> Result<(), DecodeError> {
    let version = value.first_chunk().map(|version| i16::from_be_bytes(*version));
    let version = version.ok_or(DecodeError::Truncated)?;
    Walk::new(value, version, MAX_DATA_ELEMENTS).message(schema::data(name))
}

/// Skips a block of tagged fields.
pub(crate) fn skip_tagged_fields(bytes: &mut Bytes) -> Result<(), DecodeError> {
    let count = varint::get(bytes).ok_or(DecodeError::Truncated)?;
    for _ in 0..count {
        varint::get(bytes).ok_or(DecodeError::Truncated)?;
        let length = varint::get(bytes).ok_or(DecodeError::Truncated)? as usize;
        if length > bytes.len() {
            return Err(DecodeError::Truncated);
        }
        bytes.advance(length);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
