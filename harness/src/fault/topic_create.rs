//! Creates a topic that no client uses.

use std::{collections::BTreeMap, time::Duration};

use highwater_wire::{
    StrBytes,
    messages::{
        BrokerId, CreateTopicsRequest, TopicName,
        create_topics_request::{CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig},
    },
};
use highwater_workloads::outcome;
use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, read};
use crate::nemesis::{Controls, Done, Ending, NotInstalled, Rng};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<TopicCreate>("topic-create", parameters) };

const WITHIN: Duration = Duration::from_secs(10);
const VERSION: i16 = 7;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicCreate {
    /// Its name at the brokers.
    name: String,
    /// The replicas of its one partition, the preferred leader first.
    assignment: Vec<i32>,
    /// Its settings, Kafka's names.
    #[serde(default)]
    configs: BTreeMap<String, String>,
}

impl TopicCreate {
    fn request(&self) -> CreateTopicsRequest {
        let config = |(name, value): (&String, &String)| {
            CreatableTopicConfig::default()
                .with_name(StrBytes::from_string(name.clone()))
                .with_value(Some(StrBytes::from_string(value.clone())))
        };
        let replicas = self.assignment.iter().copied().map(BrokerId).collect();
        let assignment =
            CreatableReplicaAssignment::default().with_partition_index(0).with_broker_ids(replicas);
        let topic = CreatableTopic::default()
            .with_name(TopicName(StrBytes::from_string(self.name.clone())))
            .with_num_partitions(-1)
            .with_replication_factor(-1)
            .with_assignments(vec![assignment])
            .with_configs(self.configs.iter().map(config).collect());
        CreateTopicsRequest::default()
            .with_timeout_ms(WITHIN.as_millis() as i32)
            .with_topics(vec![topic])
    }
}

impl Strike for TopicCreate {
    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        let is_there = |id: &&i32| scene.plan.brokers().any(|node| node.id.0 == **id);
        match self.assignment.iter().find(|id| !is_there(id)) {
            Some(stranger) => Err(format!("no broker {stranger} in this run")),
            None => Ok(()),
        }
    }

    async fn strike(&self, controls: &Controls, _: Rng) -> Struck {
        let unsure = |error: String| NotInstalled::Indeterminate(error);
        let mut broker = controls.ask_a_broker(WITHIN).await.map_err(|e| unsure(e.to_string()))?;
        let answer = broker.call(VERSION, self.request(), WITHIN).await;
        let answer = answer.map_err(|error| unsure(format!("not confirmed: {error}")))?;
        let code = answer.topics.first().map_or(0, |topic| topic.error_code);
        if code != 0 {
            return Err(NotInstalled::Skipped(format!("refused: {}", outcome::row(code).name)));
        }
        let what = json!({"topic": self.name, "nodes": self.assignment});
        let ending = Ending::Installed { proof: json!({"created": self.name}) };
        Ok(Box::new(Done { what, ending }))
    }
}
