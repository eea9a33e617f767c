//! What a topic's partitions are kept by, and what its batches are held against.

use std::collections::BTreeMap;

use highwater_log::LogConfig;
use highwater_log::batch::{Codec, TimestampType};

use super::topic_table::TOPIC_TABLE;

/// The settings of one topic, named as in Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// `min.insync.replicas`.
    pub min_insync_replicas: usize,
    /// `max.message.bytes`: the largest batch.
    pub max_message_bytes: usize,
    /// True when `cleanup.policy` has `compact`.
    pub compacted: bool,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms`.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub timestamp_after_max_ms: i64,
    /// `compression.type`; none stands for `producer`.
    pub codec: Option<Codec>,
    /// What the store keeps the log by.
    pub log: LogConfig,
}

impl Default for TopicConfig {
    /// Kafka's defaults.
    fn default() -> TopicConfig {
        TopicConfig {
            min_insync_replicas: 1,
            max_message_bytes: 1_048_588,
            compacted: false,
            timestamp_type: TimestampType::CreateTime,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: 3_600_000,
            codec: None,
            log: LogConfig::default(),
        }
    }
}

impl TopicConfig {
    /// These settings with those that were set, by their names at topics or at nodes. A value that
    /// is not legal was never accepted by the controller, and leaves the setting as it is.
    pub fn overridden(&self, set: &BTreeMap<String, String>) -> TopicConfig {
        let mut config = self.clone();
        for row in TOPIC_TABLE {
            let Some(apply) = row.property.apply else { continue };
            if let Some(value) = row.value_in(set).filter(|v| row.property.kind.check(v).is_ok()) {
                apply(&mut config, &value);
            }
        }
        config
    }
}
