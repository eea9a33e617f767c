//! AlterPartition: leaders propose in-sync replicas (KIP-497, KIP-903; rule 22).

use highwater_node_core::controller::reply::IsrOutcome;
use highwater_node_core::controller::request::{AlterPartition, IsrChange};
use highwater_node_core::controller::{Reply, Request};
use highwater_node_core::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch, PartitionId, PartitionState, TopicId,
};
use highwater_wire::ErrorCode;
use highwater_wire::messages::alter_partition_request::PartitionData as Asked;
use highwater_wire::messages::alter_partition_response::{PartitionData, TopicData};
use highwater_wire::messages::{AlterPartitionRequest, AlterPartitionResponse};
use uuid::Uuid;

use crate::controller::answer;
use crate::node::Node;
use crate::reply::ReplyToken;

entry!(AlterPartition, Controller, handle);

/// Members come with their broker epochs from here on (KIP-903).
const MEMBER_EPOCHS_SINCE: i16 = 3;

fn handle(node: &mut Node, request: AlterPartitionRequest, reply: ReplyToken) {
    let version = reply.version();
    let mut changes = Vec::new();
    for topic in &request.topics {
        let id = TopicId(topic.topic_id.as_u128());
        changes.extend(topic.partitions.iter().map(|asked| change(id, asked, version)));
    }
    let asked = Request::AlterPartition(AlterPartition {
        broker: BrokerId(request.broker_id.0),
        broker_epoch: BrokerEpoch(request.broker_epoch),
        changes,
    });
    let refused = refuse(ErrorCode::NotController.code());
    answer(node, reply, asked, refused, |reply| match reply {
        Reply::AlterPartition(Ok(outcomes)) => response(outcomes),
        Reply::AlterPartition(Err(refusal)) => refuse(refusal.code.code()),
        other => unreachable!("an ISR proposal is not answered by {other:?}"),
    });
}

fn change(topic: TopicId, asked: &Asked, version: i16) -> IsrChange {
    let isr = match version {
        MEMBER_EPOCHS_SINCE.. => asked
            .new_isr_with_epochs
            .iter()
            .map(|member| {
                let epoch = member.broker_epoch;
                let claimed = (epoch >= 0).then_some(BrokerEpoch(epoch));
                (BrokerId(member.broker_id.0), claimed)
            })
            .collect(),
        _ => asked.new_isr.iter().map(|member| (BrokerId(member.0), None)).collect(),
    };
    IsrChange {
        partition: PartitionId { topic, index: asked.partition_index },
        leader_epoch: LeaderEpoch(asked.leader_epoch),
        isr,
        recovering: asked.leader_recovery_state == 1,
        partition_epoch: PartitionEpoch(asked.partition_epoch),
    }
}

fn refuse(code: i16) -> AlterPartitionResponse {
    AlterPartitionResponse::default().with_error_code(code)
}

fn response(outcomes: Vec<IsrOutcome>) -> AlterPartitionResponse {
    let mut topics: Vec<TopicData> = Vec::new();
    for outcome in outcomes {
        let id = Uuid::from_u128(outcome.partition.topic.0);
        if topics.last().is_none_or(|last| last.topic_id != id) {
            topics.push(TopicData::default().with_topic_id(id));
        }
        let topic = topics.last_mut().expect("the partition's topic was just made");
        let data = PartitionData::default().with_partition_index(outcome.partition.index);
        topic.partitions.push(match outcome.result {
            Ok(state) => with_state(data, state),
            Err(code) => data.with_error_code(code.code()),
        });
    }
    AlterPartitionResponse::default().with_topics(topics)
}

fn with_state(data: PartitionData, state: PartitionState) -> PartitionData {
    data.with_leader_id(state.leader.map_or(-1, |id| id.0).into())
        .with_leader_epoch(state.leader_epoch.0)
        .with_isr(state.isr.iter().map(|id| id.0.into()).collect())
        .with_leader_recovery_state(i8::from(state.recovering))
        .with_partition_epoch(state.partition_epoch.0)
}
