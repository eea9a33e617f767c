//! From the text of a `server.properties` to settings.
//!
//! A property that this node has no use for is accepted, so that one file serves Kafka and its
//! plug-ins too, and named once in a warning. A name that nearly is a known one is refused: it
//! would silently leave a default in force.

use std::collections::BTreeMap;

use super::listeners::Addresses;
use super::node_table::apply_identity;
use super::property::Property;
use super::{ConfigError, NODE_TABLE, Settings, by_node_name};

/// Every property of Kafka 4.3.1's own nodes, with type, default and bounds.
pub(super) const KAFKA: &str = include_str!("kafka-4.3.1-node.tsv");

/// In how many letters a misspelt name differs at most.
const MISSPELT_MAX: usize = 3;

/// Settings, and what an operator should know of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// What the file and the overrides say, over Kafka's defaults.
    pub settings: Settings,
    /// Properties that were set and have no effect here.
    pub without_effect: Vec<String>,
}

/// Reads properties; `overrides` (name, value) win over the file, later ones over earlier.
pub fn load(text: &str, overrides: &[(String, String)]) -> Result<Loaded, ConfigError> {
    let mut given = parse(text)?;
    given.extend(overrides.iter().cloned());
    let mut settings = Settings::default();
    let mut without_effect = Vec::new();
    for (name, value) in &given {
        if !apply(&mut settings, name, value)? {
            without_effect.push(name.clone());
        }
    }
    let replication = &mut settings.node.replication;
    replication.topic_defaults = replication.topic_defaults.overridden(&given);
    apply_joint(&mut settings, &given)?;
    settings.node.given = given;
    Ok(Loaded { settings, without_effect })
}

fn parse(text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut properties = BTreeMap::new();
    let mut reader = java_properties::PropertiesIter::new(text.as_bytes());
    let read = reader.read_into(|name, value| {
        properties.insert(name, value);
    });
    let refused = |error: java_properties::PropertiesError| ConfigError::Line {
        line: error.line_number().unwrap_or_default(),
        reason: error.to_string(),
    };
    read.map_err(refused)?;
    Ok(properties)
}

/// Checks one property and puts it into the settings. False when it has no effect here.
fn apply(settings: &mut Settings, name: &str, value: &str) -> Result<bool, ConfigError> {
    if let Some(property) = NODE_TABLE.iter().find(|property| property.name == name) {
        check(property, name, value)?;
        if let Some(apply) = property.apply {
            apply(settings, value);
        }
        return Ok(true);
    }
    if let Some(row) = by_node_name(name) {
        check(&row.property, name, value)?;
        return Ok(row.property.apply.is_some());
    }
    match similar(name).filter(|_| !is_kafkas(name)) {
        Some(similar) => Err(ConfigError::Misspelt { name: name.to_owned(), similar }),
        None => Ok(false),
    }
}

fn check<C>(property: &Property<C>, name: &str, value: &str) -> Result<(), ConfigError> {
    property.kind.check(value).map_err(|reason| ConfigError::value(name, value, reason))
}

fn kafka_names() -> impl Iterator<Item = &'static str> {
    KAFKA.lines().filter_map(|line| line.split('\t').next())
}

/// Listeners can have any of Kafka's security properties under a prefix of their own.
fn is_kafkas(name: &str) -> bool {
    name.starts_with("listener.name.") || kafka_names().any(|known| known == name)
}

/// The known name that differs least, if it differs by no more than a slip of the pen.
fn similar(name: &str) -> Option<String> {
    let ours = NODE_TABLE.iter().map(|property| property.name);
    let distances =
        ours.chain(kafka_names()).map(|known| (strsim::levenshtein(name, known), known));
    let (distance, nearest) = distances.min()?;
    (distance <= MISSPELT_MAX).then(|| nearest.to_owned())
}

fn apply_joint(
    settings: &mut Settings,
    given: &BTreeMap<String, String>,
) -> Result<(), ConfigError> {
    let value = |name: &str| given.get(name).map(String::as_str);
    let needed = |name, what_to_do| value(name).ok_or(ConfigError::Missing { name, what_to_do });
    let or_default = |name: &str| {
        let property = NODE_TABLE.iter().find(|property| property.name == name);
        value(name).or(property.and_then(|property| property.default)).unwrap_or_default()
    };
    let id = needed("node.id", "give this node a number of its own")?;
    let roles = needed("process.roles", "say broker, controller, or broker,controller")?;
    apply_identity(settings, id, roles);
    if let Some(dirs) = value("log.dirs") {
        settings.node.log_dir = only_dir(dirs)?;
    }
    let what_to_do = "name the listener that controllers are reached by";
    let addresses = Addresses {
        listeners: or_default("listeners"),
        advertised: value("advertised.listeners"),
        controller_names: needed("controller.listener.names", what_to_do)?,
        protocol_map: or_default("listener.security.protocol.map"),
        protocol_map_is_set: value("listener.security.protocol.map").is_some(),
        voters: or_default("controller.quorum.voters"),
    };
    addresses.apply(&mut settings.node)
}

fn only_dir(dirs: &str) -> Result<String, ConfigError> {
    let mut entries = dirs.split(',').map(str::trim).filter(|dir| !dir.is_empty());
    match (entries.next(), entries.next()) {
        (Some(dir), None) => Ok(dir.to_owned()),
        (None, _) => Err(ConfigError::value("log.dirs", dirs, "but a directory is needed")),
        (Some(_), Some(_)) => {
            let reason = "but this node keeps one log directory: name one";
            Err(ConfigError::value("log.dirs", dirs, reason))
        }
    }
}
