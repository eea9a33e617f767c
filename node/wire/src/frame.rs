//! Length-prefixed frames: bytes in, whole frames out, with a bound on what one frame may hold.

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;

/// Bytes of the length prefix.
pub const PREFIX_LEN: usize = 4;

/// A length prefix that ends the connection, as Kafka ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The prefix is below zero.
    #[error("frame length {length} is negative")]
    Negative {
        /// The prefix.
        length: i32,
    },
    /// The prefix is above the limit (`socket.request.max.bytes`).
    #[error("frame length {length} is above the limit of {limit} bytes")]
    TooLong {
        /// The prefix.
        length: i32,
        /// The limit that it exceeds.
        limit: usize,
    },
}

/// Collects a connection's bytes and gives out whole frames, without their prefix.
///
/// A frame is given out without a copy: it shares the buffer that it was read into. Memory is
/// bounded by what was pushed; the announced length alone reserves nothing.
#[derive(Debug)]
pub struct FrameBuffer {
    bytes: BytesMut,
    limit: usize,
}

impl FrameBuffer {
    /// A buffer that refuses frames above `limit` bytes.
    pub fn new(limit: usize) -> FrameBuffer {
        FrameBuffer { bytes: BytesMut::new(), limit }
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Where a reader may append what it reads, instead of [`FrameBuffer::push`].
    pub fn space(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// The next whole frame, or `None` until more bytes come.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(length) = self.announced()? else { return Ok(None) };
        if self.bytes.len() < PREFIX_LEN + length {
            return Ok(None);
        }
        self.bytes.advance(PREFIX_LEN);
        Ok(Some(self.bytes.split_to(length).freeze()))
    }

    /// Bytes that are still missing of the frame under way; 0 when none is, or it is whole.
    pub fn missing(&self) -> Result<usize, FrameError> {
        let wanted = self.announced()?.map_or(0, |length| PREFIX_LEN + length);
        Ok(wanted.saturating_sub(self.bytes.len()))
    }

    /// True when the connection may end here: no frame is half received.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn announced(&self) -> Result<Option<usize>, FrameError> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX_LEN>() else { return Ok(None) };
        let length = i32::from_be_bytes(*prefix);
        let Ok(unsigned) = usize::try_from(length) else {
            return Err(FrameError::Negative { length });
        };
        if unsigned > self.limit {
            return Err(FrameError::TooLong { length, limit: self.limit });
        }
        Ok(Some(unsigned))
    }
}

/// True when these pieces are not too long for a frame: Kafka's largest has 2^31 - 1 bytes.
pub fn fits(parts: &[Bytes]) -> bool {
    i32::try_from(length(parts)).is_ok()
}

/// The length prefix of a frame made of these pieces.
///
/// # Panics
/// If they do not [fit](fits).
pub fn prefix(parts: &[Bytes]) -> [u8; PREFIX_LEN] {
    i32::try_from(length(parts)).expect("a frame that we send fits").to_be_bytes()
}

fn length(parts: &[Bytes]) -> usize {
    parts.iter().map(Bytes::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_whole_however_the_bytes_arrive() {
        let wire = [0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 9];
        for cut in 1..wire.len() {
            let mut buffer = FrameBuffer::new(10);
            let mut frames = Vec::new();
            for piece in wire.chunks(cut) {
                buffer.push(piece);
                while let Some(frame) = buffer.next_frame().unwrap() {
                    frames.push(frame.to_vec());
                }
            }
            assert_eq!(frames, [vec![7, 8], vec![], vec![9]]);
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn negative_and_oversized_lengths_are_refused_from_the_prefix_alone() {
        let mut buffer = FrameBuffer::new(10);
        buffer.push(&(-5i32).to_be_bytes());
        assert_eq!(buffer.next_frame(), Err(FrameError::Negative { length: -5 }));
        let mut buffer = FrameBuffer::new(10);
        buffer.push(&11i32.to_be_bytes());
        assert_eq!(buffer.next_frame(), Err(FrameError::TooLong { length: 11, limit: 10 }));
        assert!(buffer.missing().is_err());
    }

    #[test]
    fn missing_counts_down_to_the_whole_frame() {
        let mut buffer = FrameBuffer::new(10);
        assert_eq!(buffer.missing(), Ok(0));
        buffer.push(&[0, 0, 0, 3, 1]);
        assert_eq!(buffer.missing(), Ok(2));
        buffer.push(&[2, 3]);
        assert_eq!(buffer.missing(), Ok(0));
    }

    #[test]
    fn a_frame_has_at_most_as_many_bytes_as_its_prefix_can_say() {
        let piece = Bytes::from(vec![0; 1 << 20]);
        let mut parts = vec![piece.clone(); 2047];
        parts.push(piece.slice(1..));
        assert!(fits(&parts));
        assert_eq!(prefix(&parts), i32::MAX.to_be_bytes());
        parts.push(piece.slice(..1));
        assert!(!fits(&parts));
    }

    #[test]
    fn the_prefix_counts_all_pieces() {
        let parts = [Bytes::from_static(b"ab"), Bytes::new(), Bytes::from_static(b"c")];
        assert_eq!(prefix(&parts), [0, 0, 0, 3]);
    }
}
