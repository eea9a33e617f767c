//! Deletes a topic that a step before created.

use std::time::Duration;

use highwater_wire::{
    StrBytes,
    messages::{DeleteTopicsRequest, TopicName, delete_topics_request::DeleteTopicState},
};
use highwater_workloads::outcome;
use serde::Deserialize;
use serde_json::json;

use super::{Entry, Scene, Strike, Struck, read};
use crate::nemesis::{Controls, Done, Ending, NotInstalled, Rng};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<TopicDelete>("topic-delete", parameters) };

const WITHIN: Duration = Duration::from_secs(10);
const VERSION: i16 = 6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicDelete {
    /// Its name at the brokers.
    name: String,
}

impl Strike for TopicDelete {
    fn applies(&self, _: &Scene<'_>) -> Result<(), String> {
        Ok(())
    }

    async fn strike(&self, controls: &Controls, _: Rng) -> Struck {
        let unsure = |error: String| NotInstalled::Indeterminate(error);
        let name = TopicName(StrBytes::from_string(self.name.clone()));
        let request = DeleteTopicsRequest::default()
            .with_timeout_ms(WITHIN.as_millis() as i32)
            .with_topics(vec![DeleteTopicState::default().with_name(Some(name))]);
        let mut broker = controls.ask_a_broker(WITHIN).await.map_err(|e| unsure(e.to_string()))?;
        let answer = broker.call(VERSION, request, WITHIN).await;
        let answer = answer.map_err(|error| unsure(format!("not confirmed: {error}")))?;
        let code = answer.responses.first().map_or(0, |topic| topic.error_code);
        if code != 0 {
            return Err(NotInstalled::Skipped(format!("refused: {}", outcome::row(code).name)));
        }
        let ending = Ending::Installed { proof: json!({"deleted": self.name}) };
        Ok(Box::new(Done { what: json!({"topic": self.name}), ending }))
    }
}
