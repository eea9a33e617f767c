//! The configuration in force and where each value comes from, for DescribeConfigs.

use std::collections::BTreeMap;

use super::property::Kind;
use super::{NODE_TABLE, TOPIC_TABLE, TopicProperty, by_node_name};

/// Values that were set at one place, by property.
pub(crate) type Values = BTreeMap<String, String>;

/// Where a value comes from: Kafka's numbers, the narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub(crate) enum Source {
    /// Set on the topic.
    Topic = 1,
    /// Set on this broker while it ran.
    Broker = 2,
    /// Set on all brokers while they ran.
    Cluster = 3,
    /// The node's file.
    File = 4,
    /// Nobody set it.
    Default = 5,
}

/// One place's value of a property, under that place's name for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Synonym {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) source: Source,
}

/// One property in force.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) source: Source,
    pub(crate) kind: Kind,
    pub(crate) doc: &'static str,
    /// True when it changes only with a restart.
    pub(crate) read_only: bool,
    /// All places that have a value; the first is in force.
    pub(crate) synonyms: Vec<Synonym>,
}

/// What was set where, for one resource.
#[derive(Clone, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) topic: Option<&'a Values>,
    pub(crate) broker: Option<&'a Values>,
    pub(crate) cluster: Option<&'a Values>,
    pub(crate) file: &'a Values,
}

/// Every property of a topic.
pub(crate) fn topic(places: &Places<'_>) -> Vec<Described> {
    let shown = TOPIC_TABLE.iter().filter(|row| row.property.default.is_some());
    shown.map(|row| topic_row(row, places)).collect()
}

/// Every property of a node: those of its file, and the defaults of topics, which can be changed
/// while it runs.
pub(crate) fn node(places: &Places<'_>) -> Vec<Described> {
    let fixed = NODE_TABLE.iter().map(|p| file_row(p.name, p.kind, p.default, p.doc, places));
    let names = TOPIC_TABLE.iter().flat_map(|row| row.node_names.iter().map(|(name, _)| *name));
    let dynamic = names.filter_map(|name| node_topic_row(name, places));
    let known = |name: &str| {
        by_node_name(name).is_some() || NODE_TABLE.iter().any(|property| property.name == name)
    };
    let unused = places.file.keys().filter(|name| !known(name)).map(|name| {
        let doc = "Accepted for other brokers' sake; it has no effect on this one.";
        file_row(name, Kind::Text, None, doc, places)
    });
    fixed.chain(dynamic).chain(unused).collect()
}

/// What was set on all brokers while they ran.
pub(crate) fn cluster(values: Option<&Values>) -> Vec<Described> {
    let rows = values.into_iter().flatten().filter_map(|(name, value)| {
        let property = &by_node_name(name)?.property;
        let own = synonym(name, Some(value.clone()), Source::Cluster);
        described(name, property.kind, property.doc, false, vec![own])
    });
    rows.collect()
}

fn topic_row(row: &TopicProperty, places: &Places<'_>) -> Described {
    let name = row.property.name;
    let own = places.topic.and_then(|values| values.get(name).cloned());
    let mut synonyms: Vec<Synonym> =
        own.map(|value| synonym(name, Some(value), Source::Topic)).into_iter().collect();
    let nodes = [
        (places.broker, Source::Broker),
        (places.cluster, Source::Cluster),
        (Some(places.file), Source::File),
    ];
    for (values, source) in nodes {
        let found = values.and_then(|values| row.value_at_node(values));
        synonyms.extend(found.map(|(name, value)| synonym(name, Some(value), source)));
    }
    let default = row.property.default.map(str::to_owned);
    // Kafka names a default only where the node has one name for the property
    let in_force = synonyms.first().map(|first| (first.value.clone(), first.source));
    if let [(node_name, _)] = row.node_names {
        synonyms.push(synonym(node_name, default.clone(), Source::Default));
    }
    let (value, source) = in_force.unwrap_or((default, Source::Default));
    let (kind, doc) = (row.property.kind, row.property.doc);
    Described { name: name.to_owned(), value, source, kind, doc, read_only: false, synonyms }
}

/// A topic's default under one of its names at the node.
fn node_topic_row(name: &str, places: &Places<'_>) -> Option<Described> {
    let row = by_node_name(name)?;
    let nodes = [
        (places.broker, Source::Broker),
        (places.cluster, Source::Cluster),
        (Some(places.file), Source::File),
    ];
    let mut synonyms = Vec::new();
    for (values, source) in nodes {
        let found = values.and_then(|values| values.get(name).cloned());
        synonyms.extend(found.map(|value| synonym(name, Some(value), source)));
    }
    if let [_] = row.node_names {
        let default = row.property.default.map(str::to_owned);
        synonyms.push(synonym(name, default, Source::Default));
    }
    described(name, row.property.kind, row.property.doc, false, synonyms)
}

fn file_row(
    name: &str,
    kind: Kind,
    default: Option<&str>,
    doc: &'static str,
    places: &Places<'_>,
) -> Described {
    let given = places.file.get(name).cloned();
    let mut synonyms: Vec<Synonym> =
        given.map(|value| synonym(name, Some(value), Source::File)).into_iter().collect();
    if let Some(default) = default {
        synonyms.push(synonym(name, Some(default.to_owned()), Source::Default));
    }
    let unset = || Described {
        name: name.to_owned(),
        value: None,
        source: Source::Default,
        kind,
        doc,
        read_only: true,
        synonyms: Vec::new(),
    };
    described(name, kind, doc, true, synonyms).unwrap_or_else(unset)
}

/// The first of the synonyms in force; none without any.
fn described(
    name: &str,
    kind: Kind,
    doc: &'static str,
    read_only: bool,
    synonyms: Vec<Synonym>,
) -> Option<Described> {
    let first = synonyms.first()?;
    let (value, source) = (first.value.clone(), first.source);
    Some(Described { name: name.to_owned(), value, source, kind, doc, read_only, synonyms })
}

fn synonym(name: &str, value: Option<String>, source: Source) -> Synonym {
    Synonym { name: name.to_owned(), value, source }
}
