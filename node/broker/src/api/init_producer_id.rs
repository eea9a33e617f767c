//! InitProducerId: a new identity for an idempotent producer (rule 46).

use highwater_wire::ErrorCode;
use highwater_wire::messages::{InitProducerIdRequest, InitProducerIdResponse};

use crate::node::Node;
use crate::producer_ids::allocate;
use crate::reply::ReplyToken;

entry!(InitProducerId, Broker, handle);

/// No producer id.
const NO_PRODUCER_ID: i64 = -1;
/// No producer epoch.
const NO_PRODUCER_EPOCH: i16 = -1;

fn handle(node: &mut Node, request: InitProducerIdRequest, reply: ReplyToken) {
    let has_id = request.producer_id.0 != NO_PRODUCER_ID;
    let has_epoch = request.producer_epoch != NO_PRODUCER_EPOCH;
    let refused_for = match () {
        () if has_id != has_epoch => Some(ErrorCode::InvalidRequest),
        // no broker coordinates transactions as yet
        () if request.transactional_id.is_some() => Some(ErrorCode::CoordinatorNotAvailable),
        () => None,
    };
    if let Some(error) = refused_for {
        return node.kernel.reply(reply, refused(error));
    }
    allocate(node, |node, id| {
        let response = match id {
            Some(id) => InitProducerIdResponse::default()
                .with_producer_id(id.0.into())
                .with_producer_epoch(0),
            // the client asks again, as it does while a broker fetches its next block
            None => refused(ErrorCode::CoordinatorLoadInProgress),
        };
        node.kernel.reply(reply, response);
    });
}

fn refused(error: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse::default()
        .with_error_code(error.code())
        .with_producer_id(NO_PRODUCER_ID.into())
        .with_producer_epoch(NO_PRODUCER_EPOCH)
}
