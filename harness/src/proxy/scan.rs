//! Finds where frames begin in one direction of a connection, and which request each belongs to.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::Part;

/// Bytes of a length prefix.
const PREFIX: usize = 4;
/// Prefix, API key, version, correlation id, length of the client id.
const REQUEST_HEAD: usize = PREFIX + 2 + 2 + 4 + 2;
/// Prefix, correlation id.
const ANSWER_HEAD: usize = PREFIX + 4;

/// Requests of a connection that are remembered: those at acks=0 are never answered, and nobody has
/// so many others in flight.
const ASKED_AT_MOST: usize = 10_000;

/// What a frame is: its own header's words, or for an answer those of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) api_key: i16,
    pub(super) version: i16,
    pub(super) correlation_id: i32,
}

/// A frame and its place in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Position of the first byte of its length prefix, counted from the connection's start.
    pub(super) at: u64,
    /// Position after its last byte.
    pub(super) end: u64,
    /// What it is; `None` for an answer to no known request.
    pub(super) head: Option<Head>,
}

/// What both directions of a connection know of it: requests that wait for answers, and what the
/// opener calls itself.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    asked: Mutex<VecDeque<Head>>,
    client_id: Mutex<Option<String>>,
}

impl Exchange {
    /// What the opener called itself in its first request.
    pub(super) fn client_id(&self) -> Option<String> {
        self.client_id.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&self, head: Head) {
        let mut asked = self.lock();
        if asked.len() == ASKED_AT_MOST {
            asked.pop_front();
        }
        asked.push_back(head);
    }

    /// The request that an answer belongs to. Requests before it get none any more: acks=0.
    fn answered(&self, correlation_id: i32) -> Option<Head> {
        let mut asked = self.lock();
        let place = asked.iter().position(|head| head.correlation_id == correlation_id)?;
        asked.drain(..=place).next_back()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Head>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The scan of one direction.
#[derive(Debug)]
pub(super) struct Scan {
    part: Part,
    next_frame: u64,
    /// Set when the bytes are no frames: then they pass unread.
    opaque: bool,
}

impl Scan {
    pub(super) fn new(part: Part) -> Self {
        Self { part, next_frame: 0, opaque: false }
    }

    /// Reads the heads of frames in `bytes`, which start at `position`, and marks each. Returns up
    /// to where the stream is understood: a frame whose head is incomplete waits for the rest.
    pub(super) fn read(
        &mut self,
        position: u64,
        bytes: &[u8],
        exchange: &Exchange,
        marks: &mut VecDeque<Mark>,
    ) -> u64 {
        let end = position + bytes.len() as u64;
        while !self.opaque && self.next_frame < end {
            let at = self.next_frame;
            debug_assert!(at >= position, "a frame's head is read before it is delivered");
            let Some(frame) = self.frame(&bytes[(at - position) as usize..], exchange) else {
                return if self.opaque { end } else { at };
            };
            self.next_frame = at + frame.length;
            marks.push_back(Mark { at, end: self.next_frame, head: frame.head });
        }
        end
    }

    fn frame(&mut self, bytes: &[u8], exchange: &Exchange) -> Option<Frame> {
        let body = i32_at(bytes, 0)?;
        let least = if self.part == Part::Request { REQUEST_HEAD } else { ANSWER_HEAD } - PREFIX;
        if body < least as i32 {
            self.opaque = true;
            return None;
        }
        let head = match self.part {
            Part::Request => Some(request_head(bytes, exchange)?),
            Part::Answer => exchange.answered(i32_at(bytes, PREFIX)?),
        };
        Some(Frame { length: PREFIX as u64 + body as u64, head })
    }
}

struct Frame {
    length: u64,
    head: Option<Head>,
}

fn request_head(bytes: &[u8], exchange: &Exchange) -> Option<Head> {
    let head = Head {
        api_key: i16_at(bytes, 4)?,
        version: i16_at(bytes, 6)?,
        correlation_id: i32_at(bytes, 8)?,
    };
    let id_length = usize::try_from(i16_at(bytes, 12)?).unwrap_or(0);
    let id = bytes.get(REQUEST_HEAD..REQUEST_HEAD + id_length)?;
    let mut known = exchange.client_id.lock().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_with(|| String::from_utf8_lossy(id).into_owned());
    drop(known);
    exchange.ask(head);
    Some(head)
}

fn i16_at(bytes: &[u8], at: usize) -> Option<i16> {
    bytes.get(at..)?.first_chunk().map(|raw| i16::from_be_bytes(*raw))
}

fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk().map(|raw| i32::from_be_bytes(*raw))
}

#[cfg(test)]
mod tests;
