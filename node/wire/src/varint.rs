//! Unsigned varints: seven bits a byte, lowest first, at most five bytes.

use bytes::{Buf, BufMut};

/// Appends one.
pub(crate) fn put(out: &mut impl BufMut, mut value: u32) {
    while value >= 0x80 {
        out.put_u8(value as u8 | 0x80);
        value >>= 7;
    }
    out.put_u8(value as u8);
}

/// Reads one; `None` when the bytes end within it, or it is longer than five bytes.
pub(crate) fn get(bytes: &mut impl Buf) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = bytes.try_get_u8().ok()?;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_reads_back() {
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, u32::MAX] {
            let mut out = Vec::new();
            put(&mut out, value);
            assert_eq!(get(&mut out.as_slice()), Some(value));
        }
    }

    #[test]
    fn cut_or_endless_ones_are_refused() {
        assert_eq!(get(&mut [0x80u8].as_slice()), None);
        assert_eq!(get(&mut [0x80u8; 6].as_slice()), None);
    }
}
