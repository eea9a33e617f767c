//! Asks one of several controllers, again and again, whether it is the active one.

use std::{net::SocketAddr, time::Duration};

use highwater_wire::{
    StrBytes,
    messages::{
        DescribeQuorumRequest,
        describe_quorum_request::{PartitionData, TopicData},
    },
};
use tokio::sync::mpsc;

use super::{PATIENCE, ticks};
use crate::{
    cluster::NodeId,
    direct::{Direct, DirectError},
};

const VERSION: i16 = 0;
/// The topic that is the metadata log.
const METADATA: &str = "__cluster_metadata";

/// The leader of the metadata quorum, as it says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuorumLeader {
    /// Its epoch.
    pub epoch: i32,
    /// Who it is.
    pub node: NodeId,
}

/// Asks until the receiver is gone; tells only when the controller says that it leads.
pub(super) async fn ask_forever(
    (node, address): (NodeId, SocketAddr),
    period: Duration,
    sender: mpsc::UnboundedSender<QuorumLeader>,
) {
    let mut ticks = ticks(period);
    let mut connection = None;
    loop {
        ticks.tick().await;
        let Ok(Some(leader)) = ask(node, address, &mut connection).await else { continue };
        if sender.send(leader).is_err() {
            return;
        }
    }
}

/// One question; the connection is kept for the next one unless it failed.
async fn ask(
    node: NodeId,
    address: SocketAddr,
    kept: &mut Option<Direct>,
) -> Result<Option<QuorumLeader>, DirectError> {
    let mut connection = match kept.take() {
        Some(connection) => connection,
        None => Direct::connect(address, PATIENCE).await?,
    };
    let partition = PartitionData::default().with_partition_index(0);
    let topic = TopicData::default()
        .with_topic_name(StrBytes::from_static_str(METADATA).into())
        .with_partitions(vec![partition]);
    let request = DescribeQuorumRequest::default().with_topics(vec![topic]);
    let answer = connection.call(VERSION, request, PATIENCE).await?;
    *kept = Some(connection);
    let partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
    let own = partitions.filter(|said| said.error_code == 0 && said.leader_id.0 == node.0);
    Ok(own.map(|said| QuorumLeader { epoch: said.leader_epoch, node }).next())
}
