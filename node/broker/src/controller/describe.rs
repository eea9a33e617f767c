//! What DescribeQuorum tells of the metadata quorum.

use highwater_node_core::quorum::Member;
use highwater_node_core::types::{BrokerId, Offset};
use highwater_wire::StrBytes;
use highwater_wire::messages::describe_quorum_response::{
    Listener, Node as NodeRow, PartitionData, ReplicaState, TopicData,
};
use highwater_wire::messages::{DescribeQuorumResponse, TopicName};

use crate::metadata_log::TOPIC;
use crate::node::Node;

/// Nodes are listed from here on.
const NODES_SINCE: i16 = 2;
/// Times of fetches are told from here on.
const TIMES_SINCE: i16 = 1;

/// The quorum as its leader sees it.
pub(crate) fn describe_quorum(node: &Node, version: i16) -> DescribeQuorumResponse {
    let quorum = &node.controller().quorum;
    let state = quorum.state();
    let (voters, observers) = replicas(node, version);
    let data = PartitionData::default()
        .with_leader_id(state.leader.map_or(-1, |id| id.0).into())
        .with_leader_epoch(state.epoch.0)
        .with_high_watermark(quorum.high_watermark().0)
        .with_current_voters(voters)
        .with_observers(observers);
    let topic = TopicData::default()
        .with_topic_name(TopicName(StrBytes::from_static_str(TOPIC)))
        .with_partitions(vec![data]);
    let response = DescribeQuorumResponse::default().with_topics(vec![topic]);
    if version < NODES_SINCE { response } else { response.with_nodes(nodes(node)) }
}

fn replicas(node: &Node, version: i16) -> (Vec<ReplicaState>, Vec<ReplicaState>) {
    let quorum = &node.controller().quorum;
    let row = |id: BrokerId, end: Offset, times: (i64, i64)| {
        let row = ReplicaState::default().with_replica_id(id.0.into()).with_log_end_offset(end.0);
        match version {
            TIMES_SINCE.. => {
                row.with_last_fetch_timestamp(times.0).with_last_caught_up_timestamp(times.1)
            }
            _ => row,
        }
    };
    let member_row = |(id, member): (BrokerId, Member)| {
        let ms = |time: highwater_node_core::types::Time| (time.0 / 1_000_000) as i64;
        row(id, member.log_end, (ms(member.fetched_at), member.caught_up_at.map_or(-1, ms)))
    };
    let now_ms = node.kernel.unix_ms();
    let own = row(node.config.node_id, quorum.log_end(), (now_ms, now_ms));
    let votes = |id: &BrokerId| quorum.voters().0.contains(id);
    let members = quorum.members(node.kernel.now());
    let (voters, observers): (Vec<_>, Vec<_>) = members.partition(|(id, _)| votes(id));
    let voters = std::iter::once(own).chain(voters.into_iter().map(member_row));
    (voters.collect(), observers.into_iter().map(member_row).collect())
}

fn nodes(node: &Node) -> Vec<NodeRow> {
    let registered = node.controller().image().controllers.values();
    let row = |controller: &highwater_node_core::metadata::record::RegisterControllerRecord| {
        let listener = |endpoint: &highwater_node_core::metadata::record::Endpoint| {
            Listener::default()
                .with_name(StrBytes::from_string(endpoint.listener.clone()))
                .with_host(StrBytes::from_string(endpoint.host.clone()))
                .with_port(endpoint.port)
        };
        NodeRow::default()
            .with_node_id(controller.controller.0.into())
            .with_listeners(controller.endpoints.iter().map(listener).collect())
    };
    registered.map(row).collect()
}
