//! Changes of configurations: a resource's changes apply all or not at all.

use std::collections::{BTreeMap, BTreeSet};

use super::config::ConfigKind;
use super::machine::Controller;
use super::request::{AlterConfigs, ConfigChange, ConfigOp};
use crate::error::{ErrorCode, Refusal};
use crate::metadata::Record;
use crate::metadata::record::{ConfigRecord, Resource};

/// What a string of a Kafka record may have.
const VALUE_MAX_BYTES: usize = 32_767;

/// The value that each changed property shall have; `None` removes it.
type Wanted = BTreeMap<String, Option<String>>;

impl Controller {
    pub(super) fn alter_configs(
        &mut self,
        request: &AlterConfigs,
    ) -> Vec<(Resource, Result<(), Refusal>)> {
        let mut named: BTreeMap<&Resource, usize> = BTreeMap::new();
        for (resource, _) in &request.resources {
            *named.entry(resource).or_default() += 1;
        }
        let mut results = Vec::new();
        for (resource, changes) in &request.resources {
            let result = if named[resource] > 1 {
                Err(Refusal::new(ErrorCode::InvalidRequest, "a resource is named more than once"))
            } else {
                self.plan_configs(resource, changes).map(|wanted| {
                    if !request.validate_only {
                        self.write_configs(resource, wanted);
                    }
                })
            };
            results.push((resource.clone(), result));
        }
        results
    }

    fn plan_configs(
        &self,
        resource: &Resource,
        changes: &[ConfigChange],
    ) -> Result<Wanted, Refusal> {
        self.check_resource(resource)?;
        let distinct: BTreeSet<&str> = changes.iter().map(|change| change.name.as_str()).collect();
        if distinct.len() != changes.len() {
            let text = "a property is named more than once";
            return Err(Refusal::new(ErrorCode::InvalidRequest, text));
        }
        let value = |change: &ConfigChange| {
            let value = self.changed_value(resource, change)?;
            if let Some(value) = &value {
                self.check_config(resource, &change.name, value)?;
            }
            Ok((change.name.clone(), value))
        };
        changes.iter().map(value).collect()
    }

    fn check_resource(&self, resource: &Resource) -> Result<(), Refusal> {
        match resource {
            Resource::Topic(name) if !self.image.topic_ids.contains_key(name) => {
                let text = format!("there is no topic {name}");
                Err(Refusal::new(ErrorCode::UnknownTopicOrPartition, text))
            }
            Resource::Broker(Some(id)) if !self.image.brokers.contains_key(id) => {
                let text = format!("broker {id} is not registered");
                Err(Refusal::new(ErrorCode::BrokerIdNotRegistered, text))
            }
            Resource::Other(kind, _) => {
                let text = format!("resources of kind {kind} have no configurations here");
                Err(Refusal::new(ErrorCode::InvalidRequest, text))
            }
            Resource::Topic(_) | Resource::Broker(_) => Ok(()),
        }
    }

    fn changed_value(
        &self,
        resource: &Resource,
        change: &ConfigChange,
    ) -> Result<Option<String>, Refusal> {
        let name = &change.name;
        let needed = |value: &Option<String>| {
            let text = format!("{name} needs a value");
            value.clone().ok_or_else(|| Refusal::new(ErrorCode::InvalidConfig, text))
        };
        match &change.op {
            ConfigOp::Set(value) => Ok(Some(needed(value)?)),
            ConfigOp::Delete => Ok(None),
            ConfigOp::Append(value) => {
                let added = needed(value)?;
                let mut entries = self.list(resource, name)?;
                let mut known: BTreeSet<String> = entries.iter().cloned().collect();
                entries.extend(split(&added).into_iter().filter(|new| known.insert(new.clone())));
                Ok(Some(entries.join(",")))
            }
            ConfigOp::Subtract(value) => {
                let removed: BTreeSet<String> = split(&needed(value)?).into_iter().collect();
                let mut entries = self.list(resource, name)?;
                entries.retain(|entry| !removed.contains(entry));
                Ok(Some(entries.join(",")))
            }
        }
    }

    /// The entries of a list property as they are now.
    fn list(&self, resource: &Resource, name: &str) -> Result<Vec<String>, Refusal> {
        match self.config_rules.kind(resource, name) {
            Some(ConfigKind::List { default }) => {
                Ok(split(self.image.config(resource, name).unwrap_or(&default)))
            }
            _ => {
                let text = format!("{name} is not a list: nothing can be appended or subtracted");
                Err(Refusal::new(ErrorCode::InvalidConfig, text))
            }
        }
    }

    /// Checks that the property exists and may have this value.
    pub(super) fn check_config(
        &self,
        resource: &Resource,
        name: &str,
        value: &str,
    ) -> Result<(), Refusal> {
        if self.config_rules.kind(resource, name).is_none() {
            let text = format!("there is no property {name} that can be set here");
            return Err(Refusal::new(ErrorCode::InvalidConfig, text));
        }
        if value.len() > VALUE_MAX_BYTES {
            let text = format!("the value of {name} is longer than {VALUE_MAX_BYTES} bytes");
            return Err(Refusal::new(ErrorCode::InvalidConfig, text));
        }
        let checked = self.config_rules.check(resource, name, value);
        checked.map_err(|text| Refusal::new(ErrorCode::InvalidConfig, text))
    }

    fn write_configs(&mut self, resource: &Resource, wanted: Wanted) {
        for (name, value) in wanted {
            if self.image.config(resource, &name) != value.as_deref() {
                let resource = resource.clone();
                self.write(Record::Config(ConfigRecord { resource, name, value }));
            }
        }
    }
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}
