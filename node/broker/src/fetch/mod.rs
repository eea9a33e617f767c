//! Serves Fetch: who asks for what, how long it waits, and what goes back.

mod plan;
mod respond;
mod session;
mod sessions;

#[cfg(test)]
mod tests;

use highwater_node_core::replica::{FetchAnswer, ReplicaError};
use highwater_node_core::types::PartitionId;
use highwater_node_core::waiting_room::Wait;
use highwater_wire::ErrorCode;
use highwater_wire::messages::{FetchRequest, FetchResponse};
use rand::RngExt;

pub(crate) use sessions::FetchSessions;

use crate::node::Node;
use crate::replicas::{self, error_code, waits};
use crate::reply::ReplyToken;
use plan::{Part, Plan};

/// What a part of a fetch may have.
type Found = Result<FetchAnswer, ErrorCode>;

/// Answers a fetch of a client or follower, now or when there is enough to tell.
pub(crate) fn serve(node: &mut Node, request: FetchRequest, reply: ReplyToken) {
    let fresh_id = node.kernel.random().random();
    match plan::plan(node, request, reply, fresh_id) {
        Ok(plan) => arrive(node, plan),
        Err((reply, error)) => {
            node.kernel.reply(reply, FetchResponse::default().with_error_code(error.code()));
        }
    }
}

/// The fetch confirms what a follower holds; then it is answered or waits.
fn arrive(node: &mut Node, plan: Plan) {
    let found: Vec<Found> = plan.parts.iter().map(|part| confirm(node, part)).collect();
    if plan.max_wait_ms == 0 || plan.parts.is_empty() || is_enough(&plan, &found) {
        return respond::respond(node, plan, found);
    }
    let deadline = node.kernel.now().plus_ms(plan.max_wait_ms);
    let queries = plan.parts.iter().filter_map(|part| Some((part.id.ok()?, part.query))).collect();
    let wait = Wait::Fetch { min_bytes: plan.min_bytes, queries };
    waits::enter(node, plan.reply.conn, Some(deadline), wait, |node, _| {
        let found = plan.parts.iter().map(|part| look(node, part)).collect();
        respond::respond(node, plan, found);
    });
}

fn confirm(node: &mut Node, part: &Part) -> Found {
    let id = part.id?;
    found(replicas::step(node, id, |replica, env, out| replica.fetch(env, &part.query, out)))
}

fn look(node: &Node, part: &Part) -> Found {
    let id: PartitionId = part.id?;
    found(replicas::ask(node, id, |replica, env| replica.readable(env, &part.query)))
}

fn found(answer: Option<Result<FetchAnswer, ReplicaError>>) -> Found {
    answer.unwrap_or(Err(ReplicaError::NotLeaderOrFollower)).map_err(error_code)
}

/// Enough bytes, or anything but bytes to tell.
fn is_enough(plan: &Plan, found: &[Found]) -> bool {
    let mut total = 0;
    for one in found {
        match one {
            Ok(FetchAnswer::Readable { bytes, .. }) => total += bytes,
            Ok(FetchAnswer::Diverging { .. }) | Err(_) => return true,
        }
    }
    total >= plan.min_bytes
}
