//! Bytes of one direction that were received and not yet delivered, with the frames among them.

use std::{collections::VecDeque, time::Instant};

use bytes::{Buf, BytesMut};

use super::{
    Part,
    scan::{Exchange, Mark, Scan},
};

/// Above this many undelivered bytes nothing more is read: the sender's own buffers fill, as with a
/// network that delivers nothing.
const ROOM: usize = 8 << 20;
/// Space offered to one read.
const CHUNK: usize = 64 << 10;

/// One direction's undelivered bytes. Positions count bytes from the connection's start.
#[derive(Debug)]
pub(super) struct Stream {
    bytes: BytesMut,
    delivered: u64,
    /// Up to where the frames are understood; no byte beyond may leave.
    understood: u64,
    scan: Scan,
    marks: VecDeque<Mark>,
    /// When the bytes up to a position came, newest last; only kept while some are undelivered.
    arrivals: VecDeque<(u64, Instant)>,
    ended: bool,
}

impl Stream {
    pub(super) fn new(part: Part) -> Self {
        Self {
            bytes: BytesMut::new(),
            delivered: 0,
            understood: 0,
            scan: Scan::new(part),
            marks: VecDeque::new(),
            arrivals: VecDeque::new(),
            ended: false,
        }
    }

    /// Where the next read appends; `None` when there is no room or nothing more comes.
    pub(super) fn space(&mut self) -> Option<&mut BytesMut> {
        if self.ended || self.bytes.len() >= ROOM {
            return None;
        }
        self.bytes.reserve(CHUNK);
        Some(&mut self.bytes)
    }

    /// Takes note of a read of `count` bytes; 0 is the end of the stream.
    pub(super) fn took(&mut self, count: usize, now: Instant, exchange: &Exchange) {
        self.ended |= count == 0;
        if count > 0 {
            self.took_unread(now);
        }
        self.scan(exchange);
    }

    /// Takes note of a read on a connection whose other end is not there yet.
    pub(super) fn took_unread(&mut self, now: Instant) {
        self.arrivals.push_back((self.received(), now));
    }

    /// Finds the frames in what was received.
    pub(super) fn scan(&mut self, exchange: &Exchange) {
        let (bytes, marks) = (&self.bytes, &mut self.marks);
        self.understood = self.scan.read(self.delivered, bytes, exchange, marks);
        if self.ended {
            // What cannot become a frame any more passes as it is.
            self.understood = self.received();
        }
    }

    /// Whether the sender has ended its direction.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether everything received was delivered.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Position after the last received byte.
    pub(super) fn received(&self) -> u64 {
        self.delivered + self.bytes.len() as u64
    }

    /// Position after the last delivered byte.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Position after the last byte that may leave when no rule objects.
    pub(super) fn understood(&self) -> u64 {
        self.understood
    }

    /// Frames that are not wholly delivered, oldest first.
    pub(super) fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.marks.iter()
    }

    /// Frames that begin in `from..to`.
    pub(super) fn frames_in(&self, from: u64, to: u64) -> usize {
        self.marks.iter().filter(|mark| (from..to).contains(&mark.at)).count()
    }

    /// Position after the last byte that came at `then` or before, and when the next ones came.
    pub(super) fn arrived_by(&self, then: Instant) -> (u64, Option<Instant>) {
        let mut upto = self.delivered;
        for (end, at) in &self.arrivals {
            if *at > then {
                return (upto, Some(*at));
            }
            upto = *end;
        }
        (upto, None)
    }

    /// The undelivered bytes before position `upto`.
    pub(super) fn head(&self, upto: u64) -> &[u8] {
        debug_assert!(upto <= self.understood, "only understood bytes leave");
        &self.bytes[..(upto - self.delivered) as usize]
    }

    /// Takes note that `count` bytes left.
    pub(super) fn left(&mut self, count: usize) {
        self.bytes.advance(count);
        self.delivered += count as u64;
        let delivered = self.delivered;
        while self.marks.front().is_some_and(|mark| mark.end <= delivered) {
            self.marks.pop_front();
        }
        while self.arrivals.front().is_some_and(|(end, _)| *end <= delivered) {
            self.arrivals.pop_front();
        }
        debug_assert!(self.delivered <= self.understood, "only understood bytes leave");
    }
}
