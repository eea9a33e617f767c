//! UnregisterBroker: an operator takes a broker out of the cluster for good (KIP-631).

use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::types::BrokerId;
use highwater_wire::ErrorCode;
use highwater_wire::messages::{UnregisterBrokerRequest, UnregisterBrokerResponse};

use crate::controller::{answer, code_and_message};
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(UnregisterBroker, Forwarded, handle, refuse);

fn handle(node: &mut Node, request: UnregisterBrokerRequest, reply: ReplyToken) {
    let refused = refuse(&request, ErrorCode::NotController);
    let asked = Request::UnregisterBroker(BrokerId(request.broker_id.0));
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::UnregisterBroker(result) => {
            let (code, message) = code_and_message(&result);
            UnregisterBrokerResponse::default().with_error_code(code).with_error_message(message)
        }
        other => unreachable!("an unregistration is not answered by {other:?}"),
    });
}

fn refuse(_request: &UnregisterBrokerRequest, error: ErrorCode) -> UnregisterBrokerResponse {
    UnregisterBrokerResponse::default().with_error_code(error.code())
}
