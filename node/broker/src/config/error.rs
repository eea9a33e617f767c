//! What can be wrong with a configuration, each in one sentence.

use thiserror::Error;

/// Why a node does not start with its properties.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// The file is not in Java's properties format.
    #[error("line {line} is no property: {reason}")]
    Line {
        /// From 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Neither Kafka nor this node has such a property: most likely a slip of the pen, which would
    /// silently leave a default in force.
    #[error("there is no property {name}{}", hint(.similar))]
    Unknown {
        /// As it is written.
        name: String,
        /// A property with nearly this name.
        similar: Option<String>,
    },
    /// The value is not one that the property takes.
    #[error("{name} is {value:?}, {reason}")]
    Value {
        /// The property.
        name: String,
        /// As it is written.
        value: String,
        /// Why not.
        reason: String,
    },
    /// A property without a default is not set.
    #[error("{name} is not set: {what_to_do}")]
    Missing {
        /// The property.
        name: &'static str,
        /// What it needs.
        what_to_do: &'static str,
    },
}

impl ConfigError {
    pub(super) fn value(name: &str, value: &str, reason: impl Into<String>) -> ConfigError {
        ConfigError::Value { name: name.to_owned(), value: value.to_owned(), reason: reason.into() }
    }
}

fn hint(similar: &Option<String>) -> String {
    similar.as_ref().map_or(String::new(), |name| format!("; did you mean {name}?"))
}
