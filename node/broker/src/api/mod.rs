//! The served APIs, one file each: `api/NAME.rs` with an `ENTRY`, and no list.

use highwater_wire::{ApiKey, ErrorCode, RequestKind, ResponseKind};

use crate::connection::ListenerKind;
use crate::node::Node;
use crate::reply::ReplyToken;

/// Which listeners serve an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listeners {
    /// Those of a broker.
    Broker,
    /// Those of a controller.
    Controller,
    /// Both, answered where it comes in.
    Both,
    /// Both; a broker passes it on to the active controller in an Envelope (KIP-590).
    Forwarded,
}

/// One API.
pub struct Entry {
    /// Which.
    pub api: ApiKey,
    /// Who serves it.
    pub listeners: Listeners,
    /// Answers, now or later; the body is of this API.
    pub handle: fn(&mut Node, RequestKind, ReplyToken),
    /// The answer that refuses all that is asked, for one that could not be passed on in time.
    pub refuse: Option<fn(&RequestKind, ErrorCode) -> ResponseKind>,
}

/// Declares a file's `ENTRY`: `entry!(Metadata, Broker, handle)`, where `handle` takes the node,
/// the request's own type and the token. A forwarded API adds `refuse`, which takes a reference to
/// the request and an error, and gives the response's own type.
macro_rules! entry {
    ($api:ident, $listeners:ident, $handle:expr $(, $refuse:expr)?) => {
        /// This API's row in the table.
        pub const ENTRY: $crate::api::Entry = $crate::api::Entry {
            api: highwater_wire::ApiKey::$api,
            listeners: $crate::api::Listeners::$listeners,
            handle: |node, body, reply| match body {
                highwater_wire::RequestKind::$api(request) => $handle(node, request, reply),
                _ => unreachable!("a body is decoded by its API key"),
            },
            refuse: refusal!($api $(, $refuse)?),
        };
    };
}

/// The `refuse` of an entry: none, or one that unwraps the request's own type.
macro_rules! refusal {
    ($api:ident) => {
        None
    };
    ($api:ident, $refuse:expr) => {
        Some(|body, error| match body {
            highwater_wire::RequestKind::$api(request) => $refuse(request, error).into(),
            _ => unreachable!("a body is decoded by its API key"),
        })
    };
}

include!(concat!(env!("OUT_DIR"), "/api_table.rs"));

impl Entry {
    /// True when a listener of this kind serves it.
    pub fn is_served_by(&self, kind: ListenerKind) -> bool {
        match self.listeners {
            Listeners::Broker => kind == ListenerKind::Broker,
            Listeners::Controller => kind == ListenerKind::Controller,
            Listeners::Both | Listeners::Forwarded => true,
        }
    }

    /// True when a listener of this kind passes it on.
    pub fn is_forwarded(&self, kind: ListenerKind) -> bool {
        self.listeners == Listeners::Forwarded && kind == ListenerKind::Broker
    }
}

/// The API of this key, if a listener of this kind serves it.
pub(crate) fn find(api: ApiKey, kind: ListenerKind) -> Option<&'static Entry> {
    served(kind).find(|entry| entry.api == api)
}

/// All APIs that a listener of this kind serves.
pub(crate) fn served(kind: ListenerKind) -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().map(|(_, _, entry)| *entry).filter(move |entry| entry.is_served_by(kind))
}

#[cfg(test)]
mod tests;
