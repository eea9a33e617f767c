//! Changes one setting of a topic while clients use it; healing changes it back.

use std::time::Duration;

use highwater_wire::messages::{
    DescribeConfigsRequest, IncrementalAlterConfigsRequest, StrBytes,
    describe_configs_request::DescribeConfigsResource,
    incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig},
};
use rand::seq::IteratorRandom;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{Active, Entry, Scene, Strike, Struck, read};
use crate::{
    nemesis::{Controls, Ending, NotInstalled, Partition, Rng},
    target::BoxFuture,
};

/// The plug-in.
pub const ENTRY: Entry =
    Entry { parse: |parameters| read::<ConfigChange>("config-change", parameters) };

/// How long each request may take.
const WITHIN: Duration = Duration::from_secs(10);
const ALTER_VERSION: i16 = 1;
const DESCRIBE_VERSION: i16 = 4;
/// Kafka's number of the resource that is a topic.
const TOPIC: i8 = 2;
/// Kafka's number of the source that is the topic's own setting.
const OWN: i8 = 1;
/// Kafka's numbers of the operations.
const SET: i8 = 0;
const DELETE: i8 = 1;

/// Settings by which a run is judged as it began: what it promises would change under way.
const JUDGED_BY: [&str; 3] = ["flush.messages", "flush.ms", "unclean.leader.election.enable"];
/// Setting by which a run is judged as it was at each time, which the metadata log tells.
const FOLLOWED: &str = "min.insync.replicas";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigChange {
    /// Of the topic of this partition; one is drawn when absent.
    of: Option<Partition>,
    /// Of another topic than the run's, by its name at the brokers.
    topic: Option<String>,
    /// Which setting, Kafka's name.
    key: String,
    /// Its value while the fault lasts.
    value: String,
    /// Whether it keeps the value when the fault is over.
    #[serde(default)]
    stays: bool,
}

impl ConfigChange {
    fn topic(&self, controls: &Controls, rng: &mut Rng) -> Option<String> {
        let drawn = || controls.view().partitions.keys().choose(rng).cloned();
        let of_the_run = |partition: Partition| partition.topic;
        self.topic.clone().or_else(|| self.of.clone().or_else(drawn).map(of_the_run))
    }
}

impl Strike for ConfigChange {
    fn makes_sense(&self) -> Result<(), String> {
        if self.topic.is_some() && self.of.is_some() {
            return Err("`of` and `topic` name two topics; one is changed".to_owned());
        }
        if self.topic.is_none() && JUDGED_BY.contains(&&*self.key) {
            return Err(format!("the run is judged by `{}`, so it must stay", self.key));
        }
        Ok(())
    }

    fn applies(&self, scene: &Scene<'_>) -> Result<(), String> {
        let is_followed = scene.capabilities.controllers;
        if self.topic.is_none() && self.key == FOLLOWED && !is_followed {
            return Err(format!("the target has no metadata log that tells `{FOLLOWED}`"));
        }
        Ok(())
    }

    async fn strike(&self, controls: &Controls, mut rng: Rng) -> Struck {
        let Some(topic) = self.topic(controls, &mut rng) else {
            return Err(NotInstalled::Skipped("no topic was seen".to_owned()));
        };
        let setting = Setting { topic, key: self.key.clone() };
        let before = setting.ask(controls).await.map_err(NotInstalled::Indeterminate)?;
        let new = Told { value: self.value.clone(), is_own: true };
        // Also a change whose answer does not come has to be undone.
        let controls = controls.clone();
        let changed = Changed { controls, setting, before, new, undone: self.stays };
        changed.make(&changed.new).await.map_err(NotInstalled::Indeterminate)?;
        Ok(Box::new(changed))
    }
}

/// One setting of one topic.
#[derive(Debug, Clone)]
struct Setting {
    topic: String,
    key: String,
}

/// What a broker says of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    value: String,
    /// Whether it is the topic's own, and not what all topics have.
    is_own: bool,
}

impl Setting {
    async fn ask(&self, controls: &Controls) -> Result<Told, String> {
        let topic = DescribeConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text(&self.topic))
            .with_configuration_keys(Some(vec![text(&self.key)]));
        let request = DescribeConfigsRequest::default().with_resources(vec![topic]);
        let broker = controls.ask_a_broker(WITHIN).await;
        let mut broker = broker.map_err(|error| error.to_string())?;
        let answer = broker.call(DESCRIBE_VERSION, request, WITHIN).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let told = answer.results.iter().filter(|told| told.error_code == 0);
        let mut configs = told.flat_map(|told| &told.configs);
        let config = configs.find(|config| *config.name == *self.key);
        let config = config.ok_or_else(|| format!("no broker tells of a setting {}", self.key))?;
        let value = config.value.as_ref().map(StrBytes::to_string).unwrap_or_default();
        Ok(Told { value, is_own: config.config_source == OWN })
    }

    async fn make(&self, controls: &Controls, wanted: &Told) -> Result<(), String> {
        let change = AlterableConfig::default()
            .with_name(text(&self.key))
            .with_config_operation(if wanted.is_own { SET } else { DELETE })
            .with_value(wanted.is_own.then(|| text(&wanted.value)));
        let topic = AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text(&self.topic))
            .with_configs(vec![change]);
        let request = IncrementalAlterConfigsRequest::default().with_resources(vec![topic]);
        let broker = controls.ask_a_broker(WITHIN).await;
        let mut broker = broker.map_err(|error| error.to_string())?;
        let answer = broker.call(ALTER_VERSION, request, WITHIN).await;
        let answer = answer.map_err(|error| error.to_string())?;
        match answer.responses.iter().find(|told| told.error_code != 0) {
            None => Ok(()),
            Some(refused) => {
                let why = refused.error_message.as_deref().unwrap_or("no reason given");
                Err(format!("{}={} was refused: {why}", self.key, wanted.value))
            }
        }
    }
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// A setting that was changed.
struct Changed {
    controls: Controls,
    setting: Setting,
    before: Told,
    new: Told,
    /// Whether nothing is left to undo.
    undone: bool,
}

impl Changed {
    async fn make(&self, wanted: &Told) -> Result<(), String> {
        self.setting.make(&self.controls, wanted).await
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.undone, Handle::try_current()) {
            let (controls, before) = (self.controls.clone(), self.before.clone());
            let setting = self.setting.clone();
            runtime.spawn(async move { setting.make(&controls, &before).await });
        }
    }
}

impl Active for Changed {
    fn describe(&self) -> Value {
        let Setting { topic, key } = &self.setting;
        json!({"topic": topic, "key": key, "value": self.new.value, "before": self.before.value})
    }

    /// A broker that tells the new value proves that the change came through.
    fn heal(mut self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move {
            let told = self.setting.ask(&self.controls).await;
            if !self.undone {
                self.make(&self.before).await.map_err(NotInstalled::Indeterminate)?;
                self.undone = true;
            }
            Ok(match told {
                Ok(told) if told == self.new => Ending::Installed { proof: self.describe() },
                Ok(told) => Ending::Indeterminate {
                    reason: format!("{} was {} when it ended", self.setting.key, told.value),
                },
                Err(reason) => Ending::Indeterminate { reason },
            })
        })
    }
}
