//! Gives every partition back to its preferred leader, the first of its replicas.

use std::time::Duration;

use highwater_wire::messages::ElectLeadersRequest;
use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, read};
use crate::{
    cluster::NodeId,
    direct::DirectError,
    nemesis::{ClusterView, Controls, Done, Ending, NotInstalled, Partition, Rng},
};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<PreferredElection>("preferred-election", parameters) };

/// How long the admin request and the elections may take each.
const WITHIN: Duration = Duration::from_secs(10);
const ELECT_VERSION: i16 = 2;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PreferredElection {}

/// Partitions that their preferred replica does not lead although it is in sync, with their epochs.
/// None is no harm: an operator may ask for an election that changes nothing.
fn astray(view: &ClusterView) -> Vec<(Partition, i32)> {
    let is_astray = |leader: Option<NodeId>, replicas: &[NodeId], isr: &[NodeId]| {
        let preferred = replicas.first();
        leader != preferred.copied() && preferred.is_some_and(|node| isr.contains(node))
    };
    let partitions = view.partitions.iter();
    let astray = partitions.filter(|(_, p)| is_astray(p.leader, &p.replicas, &p.isr));
    astray.map(|(partition, seen)| (partition.clone(), seen.leader_epoch)).collect()
}

async fn request(controls: &Controls) -> Result<(), DirectError> {
    let mut broker = controls.ask_a_broker(WITHIN).await?;
    let all = ElectLeadersRequest::default()
        .with_timeout_ms(WITHIN.as_millis() as i32)
        .with_topic_partitions(None);
    broker.call(ELECT_VERSION, all, WITHIN).await?;
    Ok(())
}

/// The leader epochs rose: whoever leads now, the election or something stronger took place.
async fn ending(controls: &Controls, astray: &[(Partition, i32)]) -> Ending {
    let happened = |view: &ClusterView| {
        astray.iter().all(|(partition, epoch)| {
            view.partitions.get(partition).is_some_and(|now| now.leader_epoch > *epoch)
        })
    };
    match controls.sight(WITHIN, happened).await {
        Some(_) => Ending::Installed { proof: json!({"elected": astray.len()}) },
        None => {
            let reason = "not every leader epoch rose".to_owned();
            Ending::Indeterminate { reason }
        }
    }
}

impl Strike for PreferredElection {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        let others = scene.plan.brokers().count();
        if others > 1 { Ok(()) } else { Err("one broker has nobody to hand over to".to_owned()) }
    }

    async fn strike(&self, controls: &Controls, _: Rng) -> Struck {
        let astray = astray(&controls.view());
        request(controls).await.map_err(|error| {
            NotInstalled::Indeterminate(format!("the election was not confirmed: {error}"))
        })?;
        let partitions: Vec<&Partition> = astray.iter().map(|(partition, _)| partition).collect();
        let what = json!({"partitions": partitions});
        let ending = ending(controls, &astray).await;
        Ok(Box::new(Done { what, ending }))
    }
}
