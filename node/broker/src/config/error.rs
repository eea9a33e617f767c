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
    /// Neither Kafka nor this node has such a property, but one of nearly this name.
    #[error("there is no property {name}; did you mean {similar}?")]
    Misspelt {
        /// As it is written.
        name: String,
        /// The property with nearly this name.
        similar: String,
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
