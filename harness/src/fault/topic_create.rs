//! Creates a topic that no client uses.

use std::{collections::BTreeMap, time::Duration};

use highwater_wire::messages::CreateTopicsRequest;
use highwater_workloads::outcome;
use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, read};
use crate::{
    nemesis::{Controls, Done, Ending, NotInstalled, Rng},
    topics::{CREATE_TOPICS_VERSION, creatable},
};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<TopicCreate>("topic-create", parameters) };

const WITHIN: Duration = Duration::from_secs(10);

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
        let assignment = std::slice::from_ref(&self.assignment);
        CreateTopicsRequest::default()
            .with_timeout_ms(WITHIN.as_millis() as i32)
            .with_topics(vec![creatable(&self.name, assignment, &self.configs)])
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
        let answer = broker.call(CREATE_TOPICS_VERSION, self.request(), WITHIN).await;
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
