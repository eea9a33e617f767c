//! The message types of the protocol, re-exported so that nobody else names the codec library.
//!
//! Build them with `Default` and the `with_...` methods; a field that its version does not have
//! must keep its default, or encoding fails.

pub use kafka_protocol::messages::*;
pub use kafka_protocol::protocol::{Request as RequestMessage, StrBytes};
