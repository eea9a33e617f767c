//! Requests that only the active controller can answer: a broker passes them on (KIP-590).
//!
//! The request travels in an Envelope, byte for byte; the controller's answer is the client's.
//! While there is no controller it is tried again, and refused when its time is over.

use bytes::Bytes;
use highwater_node_core::types::Time;
use highwater_wire::messages::{EnvelopeRequest, EnvelopeResponse};
use highwater_wire::{ErrorCode, RequestKind};

use crate::api::Entry;
use crate::channel::{CallError, ChannelKey, Peer};
use crate::event::Event;
use crate::node::Node;
use crate::reply::ReplyToken;

const CHANNEL: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "forwarding" };
/// The wait before a request is tried again.
const RETRY_MS: u64 = 50;
/// Everyone is this principal where nobody is authenticated: `User:ANONYMOUS`, as Kafka writes it:
/// version 0, type, name, no token, no tagged fields.
const ANONYMOUS: &[u8] = b"\0\0\x05User\x0aANONYMOUS\0\0";
/// Callers reach us over loopback; the controller wants four bytes of address.
const LOOPBACK: &[u8] = &[127, 0, 0, 1];

/// One request on its way to the controller.
struct Forwarded {
    entry: &'static Entry,
    body: RequestKind,
    frame: Bytes,
    deadline: Time,
    reply: ReplyToken,
}

/// Passes a request on; the answer comes in its own time.
pub(crate) fn forward(
    node: &mut Node,
    entry: &'static Entry,
    body: RequestKind,
    frame: Bytes,
    reply: ReplyToken,
) {
    let deadline = node.kernel.now().plus_ms(node.config.request_timeout_ms);
    send(node, Forwarded { entry, body, frame, deadline, reply });
}

fn send(node: &mut Node, forwarded: Forwarded) {
    let left_ms = forwarded.deadline.since(node.kernel.now()) / 1_000_000;
    if left_ms == 0 {
        return give_up(node, forwarded);
    }
    let envelope = EnvelopeRequest::default()
        .with_request_data(forwarded.frame.clone())
        .with_request_principal(Some(Bytes::from_static(ANONYMOUS)))
        .with_client_host_address(Bytes::from_static(LOOPBACK));
    node.kernel.call(CHANNEL, envelope, left_ms, |node, answer| done(node, forwarded, answer));
}

fn done(node: &mut Node, forwarded: Forwarded, answer: Result<EnvelopeResponse, CallError>) {
    match answer {
        Ok(EnvelopeResponse { error_code: 0, response_data: Some(data), .. }) => {
            node.kernel.reply_raw(forwarded.reply, vec![data]);
        }
        Ok(response) if response.error_code == ErrorCode::NotController.code() => {
            node.kernel.reset_peer(Peer::Controller);
            retry(node, forwarded);
        }
        Ok(response) => {
            let why = highwater_wire::error::error_name(response.error_code);
            let text = format!("the controller refused a forwarded request: {why}");
            node.kernel.event(Event::Warning { text });
            node.kernel.close(forwarded.reply);
        }
        Err(_) => retry(node, forwarded),
    }
}

fn retry(node: &mut Node, forwarded: Forwarded) {
    node.kernel.after(RETRY_MS, |node| send(node, forwarded));
}

fn give_up(node: &mut Node, forwarded: Forwarded) {
    let refuse = forwarded.entry.refuse.expect("a forwarded API says how it is refused");
    let refused = refuse(&forwarded.body, ErrorCode::RequestTimedOut);
    node.kernel.reply(forwarded.reply, refused);
}

#[cfg(test)]
mod tests;
