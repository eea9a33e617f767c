//! Envelope: a request that a broker passes on to the active controller (KIP-590).

use highwater_wire::messages::{EnvelopeRequest, EnvelopeResponse};
use highwater_wire::{ErrorCode, Request, codec};

use crate::api::{self, Listeners};
use crate::connection::ListenerKind;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(Envelope, Controller, handle);

fn handle(node: &mut Node, request: EnvelopeRequest, reply: ReplyToken) {
    let Ok(Request { header, body }) = codec::decode_request(request.request_data) else {
        return refuse(node, reply, ErrorCode::InvalidRequest);
    };
    let entry = api::find(header.api, ListenerKind::Controller)
        .filter(|entry| entry.listeners == Listeners::Forwarded);
    let Some(entry) = entry else {
        return refuse(node, reply, ErrorCode::InvalidRequest);
    };
    let inner = ReplyToken {
        conn: reply.conn,
        serial: reply.serial,
        header,
        listener: reply.listener,
        listener_name: reply.listener_name.clone(),
        envelope: Some(Box::new(reply)),
    };
    (entry.handle)(node, body, inner);
}

fn refuse(node: &mut Node, reply: ReplyToken, error: ErrorCode) {
    let response = EnvelopeResponse::default().with_error_code(error.code());
    node.kernel.reply(reply, response);
}
