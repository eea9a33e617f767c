//! `queued.max.request.bytes`: how much memory requests may hold before no more are read.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counts the bytes of requests in memory, from when they are whole until all of them is forgotten.
#[derive(Clone, Debug)]
pub struct Gate {
    free: Option<Arc<Semaphore>>,
    limit: usize,
}

/// Frees what a frame holds when the last share of its bytes is dropped.
struct Held {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Gate {
    /// A gate that lets this many bytes in; none for no limit.
    pub fn new(limit: Option<usize>) -> Gate {
        let limit = limit.map(|limit| limit.min(u32::MAX as usize >> 3));
        Gate {
            free: limit.map(|limit| Arc::new(Semaphore::new(limit))),
            limit: limit.unwrap_or_default(),
        }
    }

    /// Waits until the frame may be held. One that is larger than the limit takes all of it.
    pub async fn hold(&self, frame: Bytes) -> Bytes {
        let Some(free) = &self.free else { return frame };
        let wanted = frame.len().min(self.limit) as u32;
        let permit = free.clone().acquire_many_owned(wanted).await;
        let _permit = permit.expect("the gate is never closed");
        Bytes::from_owner(Held { bytes: frame, _permit })
    }
}

/// Gives memory back that a large frame has needed, when nothing is left in the buffer.
pub(super) fn shrink(buffer: &mut BytesMut) {
    if buffer.is_empty() {
        *buffer = BytesMut::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_wait_until_others_are_forgotten() {
        let gate = Gate::new(Some(10));
        let first = gate.hold(Bytes::from_static(b"12345678")).await;
        let share = first.slice(2..4);
        drop(first);
        let second = gate.hold(Bytes::from_static(b"abcd"));
        tokio::pin!(second);
        assert!(futures_ready(&mut second).is_none(), "8 of 10 bytes are still held");
        drop(share);
        assert_eq!(second.await, "abcd");
    }

    #[tokio::test]
    async fn one_frame_above_the_limit_still_passes() {
        let gate = Gate::new(Some(4));
        assert_eq!(gate.hold(Bytes::from_static(b"123456")).await, "123456");
    }

    /// Polls once.
    fn futures_ready<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        }
    }
}
