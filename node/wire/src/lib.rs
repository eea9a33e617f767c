//! Kafka's wire protocol behind one door, with a length guard.
//!
//! Everything that decodes or encodes a Kafka message goes through [`codec`]: the node, the clients
//! and the proxies. No other crate of the workspace names the codec library below it.

pub mod codec;
pub mod error;
pub mod frame;
mod guard;
pub mod header;
pub mod messages;
pub mod metadata;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod varint;
pub mod versions;

pub use codec::{Request, Response};
pub use error::ErrorCode;
pub use frame::FrameBuffer;
pub use header::RequestHeader;
pub use messages::{ApiKey, RequestKind, ResponseKind, StrBytes};
