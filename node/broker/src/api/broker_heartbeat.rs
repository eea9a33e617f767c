//! BrokerHeartbeat: a registered broker is alive, and learns what it has to do (KIP-631).

use highwater_node_core::controller::request::Heartbeat;
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::types::{BrokerEpoch, BrokerId, Offset};
use highwater_wire::ErrorCode;
use highwater_wire::messages::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};

use crate::controller::answer;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(BrokerHeartbeat, Controller, handle);

fn handle(node: &mut Node, request: BrokerHeartbeatRequest, reply: ReplyToken) {
    let asked = Request::Heartbeat(Heartbeat {
        broker: BrokerId(request.broker_id.0),
        broker_epoch: BrokerEpoch(request.broker_epoch),
        metadata_offset: Offset(request.current_metadata_offset),
        want_fence: request.want_fence,
        want_shutdown: request.want_shut_down,
    });
    let refused = refuse(ErrorCode::NotController.code());
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::Heartbeat(Ok(state)) => BrokerHeartbeatResponse::default()
            .with_is_caught_up(state.caught_up)
            .with_is_fenced(state.fenced)
            .with_should_shut_down(state.should_shut_down),
        Reply::Heartbeat(Err(refusal)) => refuse(refusal.code.code()),
        other => unreachable!("a heartbeat is not answered by {other:?}"),
    });
}

fn refuse(code: i16) -> BrokerHeartbeatResponse {
    BrokerHeartbeatResponse::default().with_error_code(code)
}
