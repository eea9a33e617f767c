//! Moves a partition's leadership to another replica without killing anybody.
//!
//! The replicas are reassigned in a new order, the chosen one first, and the preferred leader is
//! elected: two admin requests to any broker that is up.

use std::{net::SocketAddr, time::Duration};

use highwater_wire::messages::{
    AlterPartitionReassignmentsRequest, BrokerId, ElectLeadersRequest, StrBytes,
    alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic},
    elect_leaders_request::TopicPartitions,
};
use rand::seq::IndexedRandom;
use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, read};
use crate::{
    cluster::{NodeId, NodeState},
    direct::{Direct, DirectError},
    nemesis::{ClusterView, Controls, Done, Ending, NotInstalled, Partition, PartitionView, Rng},
};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<LeaderMove>("leader-move", parameters) };

/// How long the admin requests and the election may take each.
const WITHIN: Duration = Duration::from_secs(10);
const REASSIGN_VERSION: i16 = 0;
const ELECT_VERSION: i16 = 2;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeaderMove {
    /// Which partition; one is drawn when absent.
    of: Option<Partition>,
    /// To whom; an ISR member is drawn when absent.
    to: Option<NodeId>,
}

/// A move that is possible now.
struct Move {
    partition: Partition,
    before: PartitionView,
    to: NodeId,
}

impl LeaderMove {
    fn choose(&self, controls: &Controls, rng: &mut Rng) -> Result<Move, NotInstalled> {
        let view = controls.view();
        let mut possible: Vec<Move> = Vec::new();
        for (partition, before) in &view.partitions {
            if self.of.as_ref().is_some_and(|of| of != partition) {
                continue;
            }
            let others = before.isr.iter().filter(|node| {
                let up = controls.cluster.state(**node) == NodeState::Running;
                up && Some(**node) != before.leader && self.to.is_none_or(|to| to == **node)
            });
            possible.extend(others.map(|to| Move {
                partition: partition.clone(),
                before: before.clone(),
                to: *to,
            }));
        }
        let count = possible.len();
        let chosen = (0..count).collect::<Vec<_>>().choose(rng).copied();
        chosen.map(|chosen| possible.swap_remove(chosen)).ok_or_else(|| {
            NotInstalled::Skipped("no partition has another ISR member to lead it".to_owned())
        })
    }
}

impl Move {
    /// The replicas with the new leader first.
    fn order(&self) -> Vec<BrokerId> {
        let rest = self.before.replicas.iter().copied().filter(|node| *node != self.to);
        [self.to].into_iter().chain(rest).map(|node| BrokerId(node.0)).collect()
    }

    async fn request(&self, broker: SocketAddr) -> Result<(), DirectError> {
        let mut broker = Direct::connect(broker, WITHIN).await?;
        let topic = StrBytes::from_string(self.partition.topic.clone());
        let partition = ReassignablePartition::default()
            .with_partition_index(self.partition.index)
            .with_replicas(Some(self.order()));
        let reassigned = ReassignableTopic::default()
            .with_name(topic.clone().into())
            .with_partitions(vec![partition]);
        let reassign = AlterPartitionReassignmentsRequest::default()
            .with_timeout_ms(WITHIN.as_millis() as i32)
            .with_topics(vec![reassigned]);
        broker.call(REASSIGN_VERSION, reassign, WITHIN).await?;
        let elected = TopicPartitions::default()
            .with_topic(topic.into())
            .with_partitions(vec![self.partition.index]);
        let elect = ElectLeadersRequest::default()
            .with_timeout_ms(WITHIN.as_millis() as i32)
            .with_topic_partitions(Some(vec![elected]));
        broker.call(ELECT_VERSION, elect, WITHIN).await?;
        Ok(())
    }

    fn happened(&self, view: &ClusterView) -> bool {
        let now = view.partitions.get(&self.partition);
        now.is_some_and(|now| now.leader_epoch > self.before.leader_epoch)
    }

    /// The leader epoch rose: whoever leads now, the move or something stronger took place.
    async fn ending(&self, controls: &Controls) -> Ending {
        let seen = controls.sight(WITHIN, |view| self.happened(view)).await;
        let Some(now) = seen.and_then(|view| view.partitions.get(&self.partition).cloned()) else {
            let (partition, epoch) = (&self.partition, self.before.leader_epoch);
            let reason = format!("the leader epoch of {partition} stayed at {epoch}");
            return Ending::Indeterminate { reason };
        };
        let epochs = [self.before.leader_epoch, now.leader_epoch];
        Ending::Installed { proof: json!({"leader_epochs": epochs, "leader": now.leader}) }
    }
}

impl Strike for LeaderMove {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        let others = scene.plan.brokers().count();
        if others > 1 { Ok(()) } else { Err("one broker has nobody to hand over to".to_owned()) }
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let moved = self.choose(controls, &mut rng)?;
        let broker = controls.cluster.plan().direct()[&moved.to];
        moved.request(broker).await.map_err(|error| {
            NotInstalled::Indeterminate(format!("the move was not confirmed: {error}"))
        })?;
        let what = json!({
            "nodes": [moved.to],
            "partition": moved.partition,
            "from": moved.before.leader,
            "to": moved.to,
        });
        let ending = moved.ending(controls).await;
        Ok(Box::new(Done { what, ending }))
    }
}
