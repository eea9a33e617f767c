//! Changes a setting of a topic while it is in use; healing gives back what it was.

use std::time::Duration;

use highwater_wire::{
    StrBytes,
    messages::{
        DescribeConfigsRequest, IncrementalAlterConfigsRequest,
        describe_configs_request::DescribeConfigsResource,
        incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig},
    },
};
use highwater_workloads::outcome;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Active, Entry, Scene, Strike, Struck, read};
use crate::{
    direct::DirectError,
    nemesis::{Controls, Done, Ending, NotInstalled, Partition, Rng},
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<ConfigChange>("config-change", parameters) };

const WITHIN: Duration = Duration::from_secs(10);
const DESCRIBE_VERSION: i16 = 4;
const ALTER_VERSION: i16 = 1;
/// Kafka's number for topics.
const TOPIC: i8 = 2;
/// Kafka's number for a value that the topic itself has.
const OF_THE_TOPIC: i8 = 1;
const SET: i8 = 0;
const DELETE: i8 = 1;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigChange {
    /// A topic of the run, by one of its partitions.
    of: Option<Partition>,
    /// Another topic, by its name at the brokers.
    topic: Option<String>,
    /// Which setting, Kafka's name.
    key: String,
    /// Its new value.
    value: String,
    /// Whether it stays so when the fault is over.
    #[serde(default)]
    stays: bool,
}

/// One setting of one topic.
#[derive(Debug, Clone)]
struct Setting {
    topic: StrBytes,
    key: StrBytes,
}

impl Setting {
    /// The value that the topic itself has; `None` when it has a default.
    async fn value(&self, controls: &Controls) -> Result<Option<String>, DirectError> {
        let resource = DescribeConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(self.topic.clone())
            .with_configuration_keys(Some(vec![self.key.clone()]));
        let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
        let mut broker = controls.ask_a_broker(WITHIN).await?;
        let answer = broker.call(DESCRIBE_VERSION, request, WITHIN).await?;
        let configs = answer.results.iter().flat_map(|result| &result.configs);
        let mut own = configs.filter(|config| config.config_source == OF_THE_TOPIC);
        Ok(own.find_map(|config| config.value.as_ref().map(ToString::to_string)))
    }

    /// Sets the value, or takes it away; the name of the broker's refusal, if it refuses.
    async fn change(
        &self,
        controls: &Controls,
        value: Option<&str>,
    ) -> Result<Option<&'static str>, DirectError> {
        let config = AlterableConfig::default()
            .with_name(self.key.clone())
            .with_config_operation(if value.is_some() { SET } else { DELETE })
            .with_value(value.map(|value| StrBytes::from_string(value.to_owned())));
        let resource = AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(self.topic.clone())
            .with_configs(vec![config]);
        let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
        let mut broker = controls.ask_a_broker(WITHIN).await?;
        let answer = broker.call(ALTER_VERSION, request, WITHIN).await?;
        let code = answer.responses.first().map_or(0, |response| response.error_code);
        Ok((code != 0).then(|| outcome::row(code).name))
    }
}

impl ConfigChange {
    fn setting(&self) -> Option<Setting> {
        let topic = self.of.as_ref().map(|of| &of.topic).or(self.topic.as_ref())?;
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        Some(Setting { topic: text(topic), key: text(&self.key) })
    }
}

impl Strike for ConfigChange {
    fn makes_sense(&self) -> Result<(), String> {
        match (&self.of, &self.topic) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err("name one topic: `of` a key of the run, or `topic`".to_owned()),
        }
    }

    fn applies(&self, _: &Scene<'_>) -> Result<(), String> {
        Ok(())
    }

    async fn strike(&self, controls: &Controls, _: Rng) -> Struck {
        let unsure = |error: DirectError| NotInstalled::Indeterminate(error.to_string());
        let setting = self.setting().expect("a fault that makes sense names a topic");
        let before = setting.value(controls).await.map_err(unsure)?;
        let refused = setting.change(controls, Some(&self.value)).await.map_err(unsure)?;
        if let Some(name) = refused {
            return Err(NotInstalled::Skipped(format!("{} refused: {name}", self.key)));
        }
        let what = json!({
            "topic": setting.topic.to_string(),
            "key": self.key,
            "value": self.value,
            "before": before,
        });
        if self.stays {
            let ending = Ending::Installed { proof: what.clone() };
            return Ok(Box::new(Done { what, ending }));
        }
        Ok(Box::new(Changed { controls: controls.clone(), setting, before, what }))
    }
}

struct Changed {
    controls: Controls,
    setting: Setting,
    before: Option<String>,
    what: Value,
}

impl Active for Changed {
    fn describe(&self) -> Value {
        self.what.clone()
    }

    /// A topic that is gone by now needs nothing back.
    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let back = self.setting.change(&self.controls, self.before.as_deref()).await;
            let back = match back {
                Ok(refused) => json!(refused.unwrap_or("given back")),
                Err(error) => json!(error.to_string()),
            };
            let mut proof = self.what;
            proof["healed"] = back;
            Ok(Ending::Installed { proof })
        })
    }
}
