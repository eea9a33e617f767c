//! FindCoordinator: there is none yet, so that clients which only assign partitions go on asking.

use highwater_wire::ErrorCode;
use highwater_wire::messages::find_coordinator_response::Coordinator;
use highwater_wire::messages::{FindCoordinatorRequest, FindCoordinatorResponse};

use crate::broker::cluster_view::NO_BROKER;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(FindCoordinator, Broker, handle);

/// The first version that asks for several keys at once.
const FIRST_BATCHED: i16 = 4;
/// The highest kind of key: groups, transactions, share groups.
const MAX_KEY_TYPE: i8 = 2;

fn handle(node: &mut Node, request: FindCoordinatorRequest, reply: ReplyToken) {
    let error = match request.key_type {
        0..=MAX_KEY_TYPE => ErrorCode::CoordinatorNotAvailable,
        _ => ErrorCode::InvalidRequest,
    };
    let none = NO_BROKER.0;
    let response = FindCoordinatorResponse::default();
    let response = if reply.version() < FIRST_BATCHED {
        response.with_error_code(error.code()).with_node_id(none.into()).with_port(none)
    } else {
        let absent = |key: &_| {
            Coordinator::default()
                .with_key(Clone::clone(key))
                .with_node_id(none.into())
                .with_port(none)
                .with_error_code(error.code())
        };
        response.with_coordinators(request.coordinator_keys.iter().map(absent).collect())
    };
    node.kernel.reply(reply, response);
}
