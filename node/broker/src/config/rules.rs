//! Which configurations operators may change, and to which values: the controller asks this.

use highwater_node_core::controller::{ConfigKind, ConfigRules};
use highwater_node_core::metadata::record::Resource;

use super::property::{Kind, Property};
use super::{TopicConfig, by_node_name, topic_property};

/// The tables of properties as the controller's rules.
#[derive(Debug)]
pub(crate) struct TableRules;

/// A topic's own properties, and at brokers the defaults of topics; everything else is read once,
/// when a node starts.
fn property(resource: &Resource, name: &str) -> Option<&'static Property<TopicConfig>> {
    match resource {
        Resource::Topic(_) => topic_property(name),
        Resource::Broker(_) => by_node_name(name).map(|row| &row.property),
        Resource::Other(..) => None,
    }
}

impl ConfigRules for TableRules {
    fn kind(&self, resource: &Resource, name: &str) -> Option<ConfigKind> {
        let property = property(resource, name)?;
        Some(match property.kind {
            Kind::List | Kind::Choices(_) => {
                ConfigKind::List { default: property.default.unwrap_or_default().to_owned() }
            }
            _ => ConfigKind::Single,
        })
    }

    fn check(&self, resource: &Resource, name: &str, value: &str) -> Result<(), String> {
        let Some(property) = property(resource, name) else {
            return Err(format!("there is no property {name} that can be set here"));
        };
        property.kind.check(value).map_err(|reason| format!("{name} is {value:?}, {reason}"))
    }
}
