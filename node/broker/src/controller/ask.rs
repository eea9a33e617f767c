//! How APIs ask the active controller.

use highwater_node_core::controller::{Input, Reply, Request, Token};
use highwater_node_core::error::Refusal;
use highwater_wire::messages::EnvelopeResponse;
use highwater_wire::{ErrorCode, ResponseKind, StrBytes};

use super::active;
use crate::node::Node;
use crate::reply::ReplyToken;

/// Asks the controller; `then` runs once, with [`Reply::NotController`] when it is not active here.
pub(crate) fn ask(
    node: &mut Node,
    request: Request,
    then: impl FnOnce(&mut Node, Reply) + Send + 'static,
) {
    let role = node.controller_mut();
    if role.active.is_none() {
        return then(node, Reply::NotController);
    }
    let token = Token(role.next_token);
    role.next_token += 1;
    role.asked.insert(token, Box::new(then));
    active::step(node, Input::Request { token, request });
}

/// Asks the controller and answers with what `respond` makes of its reply, or [`refuse`]s.
pub(crate) fn answer<R>(
    node: &mut Node,
    token: ReplyToken,
    request: Request,
    refused: R,
    respond: impl FnOnce(Reply) -> R + Send + 'static,
) where
    R: Into<ResponseKind> + Send + 'static,
{
    ask(node, request, move |node, reply| match reply {
        Reply::NotController => refuse(node, token, refused),
        reply => node.kernel.reply(token, respond(reply)),
    });
}

/// Tells the caller that the controller is not active here: by `refused`, or in the envelope that
/// brought the request.
pub(crate) fn refuse(node: &mut Node, token: ReplyToken, refused: impl Into<ResponseKind>) {
    match token.envelope {
        Some(envelope) => {
            let code = ErrorCode::NotController.code();
            node.kernel.reply(*envelope, EnvelopeResponse::default().with_error_code(code));
        }
        None => node.kernel.reply(ReplyToken { envelope: None, ..token }, refused),
    }
}

/// The error code and the sentence of a result; 0 and none for success.
pub(crate) fn code_and_message<T>(result: &Result<T, Refusal>) -> (i16, Option<StrBytes>) {
    match result {
        Ok(_) => (0, None),
        Err(refusal) => (refusal.code.code(), Some(StrBytes::from_string(refusal.message.clone()))),
    }
}
