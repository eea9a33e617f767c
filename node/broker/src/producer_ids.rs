//! Producer ids: given away from a block that the controller has committed (rule 46).

use std::collections::VecDeque;

use highwater_node_core::types::ProducerId;
use highwater_wire::messages::{AllocateProducerIdsRequest, AllocateProducerIdsResponse};

use crate::channel::{CallError, ChannelKey, Peer};
use crate::kernel::Then;
use crate::node::Node;

const CHANNEL: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "producer-ids" };

/// The rest of the current block, and who waits for the next one.
#[derive(Default)]
pub(crate) struct ProducerIds {
    next: i64,
    end: i64,
    waiting: VecDeque<Then<Option<ProducerId>>>,
    in_flight: bool,
}

/// Gives a producer id away; `None` when the controller gives no block.
pub(crate) fn allocate(
    node: &mut Node,
    then: impl FnOnce(&mut Node, Option<ProducerId>) + Send + 'static,
) {
    node.broker_mut().producer_ids.waiting.push_back(Box::new(then));
    serve(node);
}

/// Serves those who wait in their order, as far as the block lasts.
fn serve(node: &mut Node) {
    loop {
        let ids = &mut node.broker_mut().producer_ids;
        if ids.waiting.is_empty() {
            return;
        }
        if ids.next == ids.end {
            return ask(node);
        }
        let id = ProducerId(ids.next);
        ids.next += 1;
        if let Some(then) = ids.waiting.pop_front() {
            then(node, Some(id));
        }
    }
}

fn ask(node: &mut Node) {
    if std::mem::replace(&mut node.broker_mut().producer_ids.in_flight, true) {
        return;
    }
    let request = AllocateProducerIdsRequest::default()
        .with_broker_id(node.config.node_id.0.into())
        .with_broker_epoch(node.broker().lifecycle.epoch().0);
    let timeout_ms = node.config.request_timeout_ms;
    node.kernel.call(CHANNEL, request, timeout_ms, answered);
}

fn answered(node: &mut Node, answer: Result<AllocateProducerIdsResponse, CallError>) {
    node.broker_mut().producer_ids.in_flight = false;
    match answer {
        Ok(block) if block.error_code == 0 && block.producer_id_len > 0 => {
            let ids = &mut node.broker_mut().producer_ids;
            ids.next = block.producer_id_start.0;
            ids.end = ids.next + i64::from(block.producer_id_len);
            serve(node);
        }
        _ => {
            for then in std::mem::take(&mut node.broker_mut().producer_ids.waiting) {
                then(node, None);
            }
        }
    }
}

impl std::fmt::Debug for ProducerIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (next, end) = (self.next, self.end);
        f.debug_struct("ProducerIds")
            .field("next", &next)
            .field("end", &end)
            .finish_non_exhaustive()
    }
}
