//! Changes of ISRs on their way to the controller: one request at a time (rule 22).

use std::collections::BTreeMap;

use highwater_node_core::metadata::Image;
use highwater_node_core::replica::{IsrProposal, IsrRefusal};
use highwater_node_core::types::{
    BrokerId, LeaderEpoch, PartitionEpoch, PartitionId, PartitionState, TopicId,
};
use highwater_wire::ErrorCode;
use highwater_wire::messages::alter_partition_request::{BrokerState, PartitionData, TopicData};
use highwater_wire::messages::alter_partition_response::PartitionData as PartitionAnswer;
use highwater_wire::messages::{AlterPartitionRequest, AlterPartitionResponse};
use uuid::Uuid;

use crate::channel::{CallError, ChannelKey, Peer};
use crate::node::Node;
use crate::replicas;

const CHANNEL: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "alter-partition" };
/// The wait before what was not decided is proposed again.
const RETRY_MS: u64 = 50;
/// `leader_recovery_state`: a leader that proposes has recovered (rule 28).
const RECOVERED: i8 = 0;

/// Proposals that wait for their turn, and the request that is under way.
#[derive(Debug, Default)]
pub(crate) struct AlterPartitions {
    waiting: BTreeMap<PartitionId, IsrProposal>,
    in_flight: bool,
    /// True while a retry is set.
    backing_off: bool,
}

/// Proposes a change; a newer proposal of the same partition takes the place of one that waits.
pub(crate) fn propose(node: &mut Node, id: PartitionId, proposal: IsrProposal) {
    node.broker_mut().alter_partitions.waiting.insert(id, proposal);
    node.kernel.later(send);
}

/// The partition is no longer led here: what waits is not sent.
pub(crate) fn forget(node: &mut Node, id: PartitionId) {
    node.broker_mut().alter_partitions.waiting.remove(&id);
}

fn send(node: &mut Node) {
    let queue = &mut node.broker_mut().alter_partitions;
    if queue.in_flight || queue.backing_off || queue.waiting.is_empty() {
        return;
    }
    queue.in_flight = true;
    let sent = std::mem::take(&mut queue.waiting);
    let request = request(node, &sent);
    let timeout_ms = node.config.request_timeout_ms;
    node.kernel.call(CHANNEL, request, timeout_ms, move |node, answer| {
        node.broker_mut().alter_partitions.in_flight = false;
        match answer {
            Ok(response) if response.error_code == 0 => answered(node, sent, &response),
            other => failed(node, sent, other),
        }
        node.kernel.later(send);
    });
}

fn request(node: &Node, sent: &BTreeMap<PartitionId, IsrProposal>) -> AlterPartitionRequest {
    let mut topics: BTreeMap<TopicId, Vec<PartitionData>> = BTreeMap::new();
    for (id, proposal) in sent {
        topics.entry(id.topic).or_default().push(partition_data(*id, proposal));
    }
    let topic = |(id, partitions): (TopicId, Vec<PartitionData>)| {
        TopicData::default().with_topic_id(Uuid::from_u128(id.0)).with_partitions(partitions)
    };
    AlterPartitionRequest::default()
        .with_broker_id(node.config.node_id.0.into())
        .with_broker_epoch(node.broker().lifecycle.epoch().0)
        .with_topics(topics.into_iter().map(topic).collect())
}

fn partition_data(id: PartitionId, proposal: &IsrProposal) -> PartitionData {
    let member = |(id, epoch): &(BrokerId, _)| member(*id, epoch);
    PartitionData::default()
        .with_partition_index(id.index)
        .with_leader_epoch(proposal.leader_epoch.0)
        .with_new_isr_with_epochs(proposal.isr.iter().map(member).collect())
        .with_leader_recovery_state(RECOVERED)
        .with_partition_epoch(proposal.partition_epoch.0)
}

fn member(id: BrokerId, epoch: &highwater_node_core::types::BrokerEpoch) -> BrokerState {
    BrokerState::default().with_broker_id(id.0.into()).with_broker_epoch(epoch.0)
}

/// The controller looked at each partition by itself.
fn answered(
    node: &mut Node,
    sent: BTreeMap<PartitionId, IsrProposal>,
    response: &AlterPartitionResponse,
) {
    let topics = response.topics.iter();
    let answers: BTreeMap<PartitionId, &PartitionAnswer> = topics
        .flat_map(|topic| {
            let topic_id = TopicId(topic.topic_id.as_u128());
            let id = move |index| PartitionId { topic: topic_id, index };
            topic.partitions.iter().map(move |p| (id(p.partition_index), p))
        })
        .collect();
    for (id, proposal) in sent {
        match answers.get(&id) {
            Some(answer) => decided(node, id, &proposal, answer),
            None => refused(node, id, &proposal, IsrRefusal::Unknown),
        }
    }
}

fn decided(node: &mut Node, id: PartitionId, proposal: &IsrProposal, answer: &PartitionAnswer) {
    if answer.error_code != 0 {
        return refused(node, id, proposal, refusal(answer.error_code));
    }
    let Some(state) = committed_state(node.broker().image(), id, answer) else { return };
    replicas::step(node, id, |replica, env, out| {
        replica.isr_answered(env, proposal, Ok(&state), out);
    });
}

/// The state that the controller says it has committed; what the answer lacks is as it was.
fn committed_state(
    image: &Image,
    id: PartitionId,
    answer: &PartitionAnswer,
) -> Option<PartitionState> {
    let known = &image.partition(id)?.state;
    Some(PartitionState {
        replicas: known.replicas.clone(),
        isr: answer.isr.iter().map(|id| BrokerId(id.0)).collect(),
        leader: Some(BrokerId(answer.leader_id.0)),
        leader_epoch: LeaderEpoch(answer.leader_epoch),
        partition_epoch: PartitionEpoch(answer.partition_epoch),
        recovering: answer.leader_recovery_state != RECOVERED,
    })
}

fn refusal(code: i16) -> IsrRefusal {
    match ErrorCode::from_code(code) {
        Some(ErrorCode::IneligibleReplica | ErrorCode::OperationNotAttempted) => {
            IsrRefusal::NotMade
        }
        Some(
            ErrorCode::FencedLeaderEpoch
            | ErrorCode::InvalidUpdateVersion
            | ErrorCode::InvalidRequest
            | ErrorCode::NewLeaderElected
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId,
        ) => IsrRefusal::Outdated,
        _ => IsrRefusal::Unknown,
    }
}

/// The request as a whole got no decision: the outcome is unknown, all is proposed again.
fn failed(
    node: &mut Node,
    sent: BTreeMap<PartitionId, IsrProposal>,
    answer: Result<AlterPartitionResponse, CallError>,
) {
    let not_controller = ErrorCode::NotController.code();
    if answer.is_ok_and(|response| response.error_code == not_controller) {
        node.kernel.reset_peer(Peer::Controller);
    }
    for (id, proposal) in sent {
        refused(node, id, &proposal, IsrRefusal::Unknown);
    }
}

fn refused(node: &mut Node, id: PartitionId, proposal: &IsrProposal, refusal: IsrRefusal) {
    if refusal == IsrRefusal::Unknown {
        back_off(node);
    }
    replicas::step(node, id, |replica, env, out| {
        replica.isr_answered(env, proposal, Err(refusal), out);
    });
}

fn back_off(node: &mut Node) {
    let queue = &mut node.broker_mut().alter_partitions;
    if !std::mem::replace(&mut queue.backing_off, true) {
        node.kernel.after(RETRY_MS, |node| {
            node.broker_mut().alter_partitions.backing_off = false;
            send(node);
        });
    }
}
