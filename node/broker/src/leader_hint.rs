//! Who leads a partition and where, for clients that asked the wrong broker (KIP-951).

use std::collections::BTreeSet;

use highwater_node_core::types::{BrokerId, LeaderEpoch, PartitionId};
use highwater_wire::ErrorCode;

use crate::node::Node;

/// The leader that the metadata names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeaderHint {
    pub(crate) leader: BrokerId,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) rack: Option<String>,
}

/// True for errors that come from stale metadata.
pub(crate) fn is_wanted(error_code: i16) -> bool {
    let stale = [ErrorCode::NotLeaderOrFollower, ErrorCode::FencedLeaderEpoch];
    stale.iter().any(|error| error.code() == error_code)
}

/// The leader of a partition, when the metadata names one that this listener's clients can reach.
pub(crate) fn find(node: &Node, id: PartitionId, listener: &str) -> Option<LeaderHint> {
    let image = node.broker().image();
    let state = &image.partition(id)?.state;
    let leader = state.leader?;
    let broker = image.brokers.get(&leader)?;
    let endpoint = broker.endpoint(listener)?;
    Some(LeaderHint {
        leader,
        leader_epoch: state.leader_epoch,
        host: endpoint.host.clone(),
        port: endpoint.port,
        rack: broker.rack.clone(),
    })
}

/// Each leader once, in the order of their first mention.
pub(crate) fn distinct(leaders: &[LeaderHint]) -> impl Iterator<Item = &LeaderHint> {
    let mut seen = BTreeSet::new();
    leaders.iter().filter(move |hint| seen.insert(hint.leader))
}
