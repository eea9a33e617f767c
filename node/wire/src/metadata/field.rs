//! How one field of a metadata record is written; all records are of the flexible kind.

use bytes::{Buf, BufMut};
use uuid::Uuid;

use super::RecordError;
use crate::varint;

/// A type that a field can have.
pub(super) trait Field: Sized {
    /// The fewest bytes that one value takes: what an array's count is checked against.
    const MIN_LEN: usize;

    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads a value and leaves `bytes` behind it.
    fn get(bytes: &mut &[u8]) -> Result<Self, RecordError>;
}

macro_rules! numbers {
    ($($ty:ty: $put:ident, $get:ident;)*) => {
        $(impl Field for $ty {
            const MIN_LEN: usize = size_of::<$ty>();

            fn put(&self, out: &mut Vec<u8>) {
                out.$put(*self);
            }

            fn get(bytes: &mut &[u8]) -> Result<$ty, RecordError> {
                bytes.$get().map_err(|_| RecordError::Truncated)
            }
        })*
    };
}

numbers! {
    i8: put_i8, try_get_i8;
    i16: put_i16, try_get_i16;
    u16: put_u16, try_get_u16;
    i32: put_i32, try_get_i32;
    i64: put_i64, try_get_i64;
}

impl Field for bool {
    const MIN_LEN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u8(u8::from(*self));
    }

    fn get(bytes: &mut &[u8]) -> Result<bool, RecordError> {
        i8::get(bytes).map(|byte| byte != 0)
    }
}

impl Field for Uuid {
    const MIN_LEN: usize = 16;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_slice(self.as_bytes());
    }

    fn get(bytes: &mut &[u8]) -> Result<Uuid, RecordError> {
        bytes.try_get_u128().map(Uuid::from_u128).map_err(|_| RecordError::Truncated)
    }
}

impl Field for Option<String> {
    const MIN_LEN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        put_len(out, self.as_ref().map(String::len));
        if let Some(text) = self {
            out.put_slice(text.as_bytes());
        }
    }

    fn get(bytes: &mut &[u8]) -> Result<Option<String>, RecordError> {
        let Some(length) = get_len(bytes, 1)? else { return Ok(None) };
        let (text, rest) = bytes.split_at(length);
        *bytes = rest;
        String::from_utf8(text.to_vec()).map(Some).map_err(|_| RecordError::Malformed)
    }
}

impl Field for String {
    const MIN_LEN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        put_len(out, Some(self.len()));
        out.put_slice(self.as_bytes());
    }

    fn get(bytes: &mut &[u8]) -> Result<String, RecordError> {
        Option::<String>::get(bytes)?.ok_or(RecordError::Malformed)
    }
}

impl<T: Field> Field for Option<Vec<T>> {
    const MIN_LEN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        put_len(out, self.as_ref().map(Vec::len));
        self.iter().flatten().for_each(|item| item.put(out));
    }

    fn get(bytes: &mut &[u8]) -> Result<Option<Vec<T>>, RecordError> {
        let Some(count) = get_len(bytes, T::MIN_LEN)? else { return Ok(None) };
        (0..count).map(|_| T::get(bytes)).collect::<Result<_, _>>().map(Some)
    }
}

impl<T: Field> Field for Vec<T> {
    const MIN_LEN: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        put_len(out, Some(self.len()));
        self.iter().for_each(|item| item.put(out));
    }

    fn get(bytes: &mut &[u8]) -> Result<Vec<T>, RecordError> {
        Option::<Vec<T>>::get(bytes)?.ok_or(RecordError::Malformed)
    }
}

/// Appends a length or count; 0 stands for null, so that all others are one higher.
fn put_len(out: &mut Vec<u8>, length: Option<usize>) {
    let stored = length.map_or(0, |length| length + 1);
    varint::put(out, u32::try_from(stored).expect("a metadata record is far below 4 GiB"));
}

/// Reads a length or count, and checks that as many items can follow.
fn get_len(bytes: &mut &[u8], min_len: usize) -> Result<Option<usize>, RecordError> {
    let stored = varint::get(bytes).ok_or(RecordError::Truncated)? as usize;
    let Some(length) = stored.checked_sub(1) else { return Ok(None) };
    if length > bytes.len() / min_len {
        return Err(RecordError::Truncated);
    }
    Ok(Some(length))
}
