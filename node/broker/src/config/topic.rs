//! What a topic's partitions are kept by, and what its batches are held against.

use std::collections::BTreeMap;

use highwater_log::LogConfig;
use highwater_log::batch::{Codec, TimestampType};

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
    /// These settings with those that were set for a topic; a value that does not parse was never
    /// accepted by the controller, and leaves the setting as it is.
    pub fn overridden(&self, set: &BTreeMap<String, String>) -> TopicConfig {
        let mut config = self.clone();
        for (name, value) in set {
            config.set(name, value);
        }
        config
    }

    fn set(&mut self, name: &str, value: &str) {
        match name {
            "min.insync.replicas" => parse(&mut self.min_insync_replicas, value),
            "max.message.bytes" => parse(&mut self.max_message_bytes, value),
            "cleanup.policy" => {
                self.compacted = value.split(',').any(|policy| policy.trim() == "compact");
            }
            "message.timestamp.type" => self.timestamp_type = timestamp_type(value),
            "message.timestamp.before.max.ms" => parse(&mut self.timestamp_before_max_ms, value),
            "message.timestamp.after.max.ms" => parse(&mut self.timestamp_after_max_ms, value),
            "compression.type" => self.codec = codec(value),
            "segment.bytes" | "internal.segment.bytes" => {
                parse(&mut self.log.segment_bytes, value);
            }
            "segment.ms" => parse(&mut self.log.segment_ms, value),
            "segment.index.bytes" => parse(&mut self.log.segment_index_bytes, value),
            "index.interval.bytes" => parse(&mut self.log.index_interval_bytes, value),
            "flush.messages" => parse(&mut self.log.flush_messages, value),
            "flush.ms" => parse(&mut self.log.flush_ms, value),
            _ => {}
        }
    }
}

fn parse<T: std::str::FromStr>(setting: &mut T, value: &str) {
    if let Ok(value) = value.trim().parse() {
        *setting = value;
    }
}

fn timestamp_type(value: &str) -> TimestampType {
    match value {
        "LogAppendTime" => TimestampType::LogAppendTime,
        _ => TimestampType::CreateTime,
    }
}

/// `compression.type` as a codec; `producer` keeps what came.
fn codec(value: &str) -> Option<Codec> {
    Codec::from_name(value)
}
