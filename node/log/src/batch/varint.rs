//! Kafka's variable-length integers: zig-zag, seven bits a byte, least significant first.

use bytes::BufMut;

/// Appends a zig-zag varint; 32-bit values come out as Kafka's 32-bit ones do.
pub(crate) fn put(out: &mut impl BufMut, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.put_u8(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.put_u8(rest as u8);
}

/// Takes a varint of up to 64 bits off the front of `bytes`; none if it does not end.
pub(crate) fn take_long(bytes: &mut &[u8]) -> Option<i64> {
    let raw = take(bytes, 10)?;
    Some((raw >> 1) as i64 ^ -((raw & 1) as i64))
}

/// Takes a varint of up to 32 bits off the front of `bytes`; none if it is longer.
pub(crate) fn take_int(bytes: &mut &[u8]) -> Option<i32> {
    let raw = u32::try_from(take(bytes, 5)?).ok()?;
    Some((raw >> 1) as i32 ^ -((raw & 1) as i32))
}

fn take(bytes: &mut &[u8], longest: usize) -> Option<u64> {
    let mut value = 0u64;
    for index in 0..longest.min(bytes.len()) {
        let byte = bytes[index];
        let bits = u64::from(byte & 0x7f);
        value |= bits.checked_shl(7 * index as u32).filter(|v| v >> (7 * index) == bits)?;
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}
