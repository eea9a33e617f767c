//! The length guard: every count and length in a message is checked against the bytes that are left.
//!
//! The codec library reserves memory from lengths that it reads off the wire, so one flipped bit can
//! ask for gigabytes. Nothing is decoded before it has passed here.

use bytes::{Buf, Bytes};

use crate::codec::DecodeError;
use crate::varint;

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
