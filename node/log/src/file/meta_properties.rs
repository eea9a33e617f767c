//! `meta.properties`: whose log directory this is.

use thiserror::Error;

use super::topic_id;

/// Its name in the log directory.
pub const FILE: &str = "meta.properties";

const VERSION: &str = "1";
/// Kafka ignores what it does not know.
const OURS: &str = "highwater.format";

/// Identity of a log directory, version 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaProperties {
    /// The cluster that it belongs to.
    pub cluster_id: String,
    /// The node that it belongs to.
    pub node_id: i32,
    /// Its own id, where it has one.
    pub directory_id: Option<u128>,
    /// Which version of this node formatted it; none for one that Apache Kafka formatted.
    pub highwater_format: Option<u32>,
}

/// Why the file is not one of ours to use.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MetaError {
    /// A newer or older format.
    #[error("meta.properties has version {0:?}, only version 1 is supported")]
    Version(String),
    /// A property is missing or is no value.
    #[error("meta.properties has no valid {0}")]
    Property(&'static str),
}

impl MetaProperties {
    /// The file's content.
    pub fn format(&self) -> String {
        let MetaProperties { cluster_id, node_id, directory_id, highwater_format } = self;
        let directory = directory_id.map(topic_id::format);
        let directory = directory.map_or(String::new(), |id| format!("directory.id={id}\n"));
        let cluster_id = escape(cluster_id);
        let ours = highwater_format.map_or(String::new(), |version| format!("{OURS}={version}\n"));
        format!("node.id={node_id}\n{directory}version={VERSION}\ncluster.id={cluster_id}\n{ours}")
    }

    /// Reads the file's content.
    pub fn parse(text: &str) -> Result<MetaProperties, MetaError> {
        let version = value(text, "version").unwrap_or_default();
        if version != VERSION {
            return Err(MetaError::Version(version));
        }
        let node_id = value(text, "node.id").and_then(|id| id.parse().ok());
        let directory_id = match value(text, "directory.id") {
            Some(id) => Some(topic_id::parse(&id).ok_or(MetaError::Property("directory.id"))?),
            None => None,
        };
        Ok(MetaProperties {
            cluster_id: value(text, "cluster.id").ok_or(MetaError::Property("cluster.id"))?,
            node_id: node_id.ok_or(MetaError::Property("node.id"))?,
            directory_id,
            highwater_format: value(text, OURS).and_then(|version| version.parse().ok()),
        })
    }
}

fn value(text: &str, key: &str) -> Option<String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.filter(|(name, _)| name.trim() == key).map(|(_, value)| unescape(value)).next_back()
}

/// A value as Java's properties format has it: Kafka takes any text for a cluster's id.
fn escape(value: &str) -> String {
    let escaped = value.chars().map(|letter| match letter {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\\' | ' ' => format!("\\{letter}"),
        _ => letter.to_string(),
    });
    escaped.collect()
}

fn unescape(value: &str) -> String {
    let mut letters = value.trim_start().chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        let escaped = if letter == '\\' { letters.next() } else { None };
        text.push(match escaped {
            Some('n') => '\n',
            Some('r') => '\r',
            Some(other) => other,
            None => letter,
        });
    }
    text
}
