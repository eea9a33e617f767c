//! What a topic, a producer or a whole run was promised: the settings that decide what is legal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::event::{Acks, Isolation};

/// Settings that promise something; an absent one is left to whoever is asked next.
///
/// The field names are Kafka's property names. Order of asking: `--promise`, the client's `open`
/// event, the topic, the run, and at last the most that can be promised ([`Promise::strongest`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// How many replicas must have a record before it is acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acks: Option<Acks>,
    /// Whether the broker recognises a repeat.
    #[serde(rename = "enable.idempotence", default, skip_serializing_if = "Option::is_none")]
    pub idempotence: Option<bool>,
    /// What consumers may see.
    #[serde(rename = "isolation.level", default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// Replicas that must be in sync for an acks=all write.
    #[serde(rename = "min.insync.replicas", default, skip_serializing_if = "Option::is_none")]
    pub min_insync_replicas: Option<u32>,
    /// Whether a replica outside the ISR may lead.
    #[serde(
        rename = "unclean.leader.election.enable",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub unclean_election: Option<bool>,
    /// Records between two flushes of a log.
    #[serde(rename = "flush.messages", default, skip_serializing_if = "Option::is_none")]
    pub flush_messages: Option<u64>,
    /// Settings that this version does not judge by.
    #[serde(flatten)]
    pub extra: Map<String, serde_json::Value>,
}

/// A `--promise KEY=VALUE` that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromiseError {
    /// The text is not `KEY=VALUE`.
    #[error("promise {0:?} is not KEY=VALUE, as in acks=all")]
    Shape(String),
    /// The key is none that can be promised.
    #[error(
        "unknown promise {0:?}; one of acks, enable.idempotence, isolation.level, \
         min.insync.replicas, unclean.leader.election.enable, flush.messages"
    )]
    Key(String),
    /// The value does not fit the key.
    #[error("promise {key}={value}: the value must be {wanted}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
}

impl Promise {
    /// The most that can be promised, assumed where nothing is known.
    pub fn strongest() -> Self {
        Self {
            acks: Some(Acks::All),
            idempotence: Some(true),
            isolation: Some(Isolation::ReadCommitted),
            min_insync_replicas: Some(2),
            unclean_election: Some(false),
            flush_messages: None,
            extra: Map::new(),
        }
    }

    /// This promise, and where it says nothing, the other's.
    pub fn or(&self, other: &Self) -> Self {
        let mut extra = other.extra.clone();
        extra.extend(self.extra.clone());
        Self {
            acks: self.acks.or(other.acks),
            idempotence: self.idempotence.or(other.idempotence),
            isolation: self.isolation.or(other.isolation),
            min_insync_replicas: self.min_insync_replicas.or(other.min_insync_replicas),
            unclean_election: self.unclean_election.or(other.unclean_election),
            flush_messages: self.flush_messages.or(other.flush_messages),
            extra,
        }
    }

    /// Sets one promise from `KEY=VALUE`, keys and values as in Kafka's configuration.
    pub fn set(&mut self, text: &str) -> Result<(), PromiseError> {
        let (key, value) =
            text.split_once('=').ok_or_else(|| PromiseError::Shape(text.to_owned()))?;
        let wrong =
            |wanted| PromiseError::Value { key: key.to_owned(), value: value.to_owned(), wanted };
        match key {
            "acks" => self.acks = Some(word(value).ok_or_else(|| wrong("0, 1 or all"))?),
            "enable.idempotence" => {
                self.idempotence = Some(value.parse().map_err(|_| wrong("true or false"))?);
            }
            "isolation.level" => {
                let wanted = "read_committed or read_uncommitted";
                self.isolation = Some(word(value).ok_or_else(|| wrong(wanted))?);
            }
            "min.insync.replicas" => {
                self.min_insync_replicas = Some(value.parse().map_err(|_| wrong("a number"))?);
            }
            "unclean.leader.election.enable" => {
                self.unclean_election = Some(value.parse().map_err(|_| wrong("true or false"))?);
            }
            "flush.messages" => {
                self.flush_messages = Some(value.parse().map_err(|_| wrong("a number"))?);
            }
            _ => return Err(PromiseError::Key(key.to_owned())),
        }
        Ok(())
    }
}

fn word<T: for<'de> Deserialize<'de>>(text: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::from(text)).ok()
}

/// The promises of a run: in general, and where a topic differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Promises {
    /// Holds where nothing more special does.
    #[serde(default)]
    pub run: Promise,
    /// By topic name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub topics: BTreeMap<String, Promise>,
}
