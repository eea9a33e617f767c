//! AllocateProducerIds: a broker gets a block of producer ids (rule 46).

use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::types::{BrokerEpoch, BrokerId};
use highwater_wire::ErrorCode;
use highwater_wire::messages::{AllocateProducerIdsRequest, AllocateProducerIdsResponse};

use crate::controller::answer;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(AllocateProducerIds, Controller, handle);

fn handle(node: &mut Node, request: AllocateProducerIdsRequest, reply: ReplyToken) {
    let asked = Request::AllocateProducerIds {
        broker: BrokerId(request.broker_id.0),
        broker_epoch: BrokerEpoch(request.broker_epoch),
    };
    let refused = refuse(ErrorCode::NotController.code());
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::AllocateProducerIds(Ok(block)) => AllocateProducerIdsResponse::default()
            .with_producer_id_start(block.first.into())
            .with_producer_id_len(block.len),
        Reply::AllocateProducerIds(Err(refusal)) => refuse(refusal.code.code()),
        other => unreachable!("an allocation is not answered by {other:?}"),
    });
}

fn refuse(code: i16) -> AllocateProducerIdsResponse {
    AllocateProducerIdsResponse::default().with_error_code(code)
}
