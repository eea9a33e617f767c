//! The right to answer one request, once.

use highwater_wire::{ApiKey, RequestHeader};

use crate::connection::ListenerKind;
use crate::effect::ConnId;

/// The right to answer one request. It is spent by `Kernel::reply`, `Kernel::no_reply` or
/// `Kernel::close`; until then the connection reads no further request (Kafka mutes the channel).
#[derive(Debug)]
#[must_use = "a request that is never answered blocks its connection for ever"]
pub struct ReplyToken {
    pub(crate) conn: ConnId,
    pub(crate) serial: u64,
    pub(crate) header: RequestHeader,
    pub(crate) listener: ListenerKind,
    pub(crate) listener_name: String,
    /// The envelope that brought the request, when a broker forwarded it.
    pub(crate) envelope: Option<Box<ReplyToken>>,
}

impl ReplyToken {
    /// Which API is asked.
    pub fn api(&self) -> ApiKey {
        self.header.api
    }

    /// In which version the request came and the answer goes.
    pub fn version(&self) -> i16 {
        self.header.version
    }

    /// The number by which the caller finds its answer.
    pub fn correlation_id(&self) -> i32 {
        self.header.correlation_id
    }

    /// Whom the listener serves that the request came in by.
    pub fn listener(&self) -> ListenerKind {
        self.listener
    }

    /// The name of that listener.
    pub fn listener_name(&self) -> &str {
        &self.listener_name
    }
}
