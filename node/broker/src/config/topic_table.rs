//! Every property of a topic, and under which names the node's file sets its default.

use std::collections::BTreeMap;

use highwater_log::batch::{Codec, TimestampType};

use super::TopicConfig;
use super::property::{Kind, Property, number};

/// A topic's property and its names at the node.
#[derive(Debug)]
pub struct TopicProperty {
    /// The property as topics have it.
    pub property: Property<TopicConfig>,
    /// Names in the node's file, the first that is set wins; with what a value there is multiplied.
    pub node_names: &'static [(&'static str, i64)],
}

impl TopicProperty {
    /// The property's value among settings of a node, in the topic's unit, with its name there.
    pub(super) fn value_at_node(
        &self,
        set: &BTreeMap<String, String>,
    ) -> Option<(&'static str, String)> {
        self.node_names.iter().find_map(|(name, factor)| {
            let value = set.get(*name)?;
            Some((*name, multiplied(value, *factor)?))
        })
    }

    /// The property's value among settings of a topic or of a node, in the topic's unit.
    pub(super) fn value_in(&self, set: &BTreeMap<String, String>) -> Option<String> {
        let own = set.get(self.property.name).cloned();
        own.or_else(|| self.value_at_node(set).map(|(_, value)| value))
    }
}

/// A value in a larger unit, in the property's own; -1 stands for "no limit" in each unit.
fn multiplied(value: &str, factor: i64) -> Option<String> {
    match factor {
        1 => Some(value.to_owned()),
        _ => {
            let number: i64 = value.trim().parse().ok()?;
            let own = if number < 0 { number } else { number.saturating_mul(factor) };
            Some(own.to_string())
        }
    }
}

const INT_MAX: i64 = i32::MAX as i64;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const BOOLEAN: Kind = Kind::Boolean;
const INT: Kind = Kind::Number(0, INT_MAX);
const LONG: Kind = Kind::Number(0, i64::MAX);

type Apply = fn(&mut TopicConfig, &str);

const fn row(
    name: &'static str,
    node_names: &'static [(&'static str, i64)],
    kind: Kind,
    default: &'static str,
    apply: Option<Apply>,
    doc: &'static str,
) -> TopicProperty {
    let property = Property { name, kind, default: Some(default), doc, apply };
    TopicProperty { property, node_names }
}

/// All of them, by name.
pub static TOPIC_TABLE: &[TopicProperty] = &[
    row(
        "cleanup.policy",
        &[("log.cleanup.policy", 1)],
        Kind::Choices(&["delete", "compact"]),
        "delete",
        Some(|c, v| c.compacted = v.split(',').any(|policy| policy.trim() == "compact")),
        "What happens to old records; with compact, records need keys.",
    ),
    row(
        "compression.gzip.level",
        &[("compression.gzip.level", 1)],
        Kind::Number(-1, 9),
        "-1",
        None,
        "The gzip level when the broker compresses.",
    ),
    row(
        "compression.lz4.level",
        &[("compression.lz4.level", 1)],
        Kind::Number(1, 17),
        "9",
        None,
        "The LZ4 level when the broker compresses.",
    ),
    row(
        "compression.type",
        &[("compression.type", 1)],
        Kind::Choice(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]),
        "producer",
        Some(|c, v| c.codec = Codec::from_name(v.trim())),
        "How batches are stored; producer keeps them as they came.",
    ),
    row(
        "compression.zstd.level",
        &[("compression.zstd.level", 1)],
        Kind::Number(-131_072, 22),
        "3",
        None,
        "The zstd level when the broker compresses.",
    ),
    row(
        "delete.retention.ms",
        &[("log.cleaner.delete.retention.ms", 1)],
        LONG,
        "86400000",
        None,
        "How long compaction keeps tombstones.",
    ),
    row(
        "file.delete.delay.ms",
        &[("log.segment.delete.delay.ms", 1)],
        LONG,
        "60000",
        None,
        "How long removed files stay on disk; this node removes them at once.",
    ),
    row(
        "flush.messages",
        &[("log.flush.interval.messages", 1)],
        Kind::Number(1, i64::MAX),
        "9223372036854775807",
        Some(|c, v| c.log.flush_messages = number(v)),
        "After how many records the log is synced; 1 makes every acknowledgement durable.",
    ),
    row(
        "flush.ms",
        &[("log.flush.interval.ms", 1)],
        LONG,
        "9223372036854775807",
        Some(|c, v| c.log.flush_ms = number(v)),
        "After how long records are synced.",
    ),
    row(
        "follower.replication.throttled.replicas",
        &[],
        Kind::List,
        "",
        None,
        "Replicas whose copying is slowed down, on the followers' side.",
    ),
    row(
        "index.interval.bytes",
        &[("log.index.interval.bytes", 1)],
        INT,
        "4096",
        Some(|c, v| c.log.index_interval_bytes = number(v)),
        "How many bytes are between two index entries, at least.",
    ),
    row(
        "leader.replication.throttled.replicas",
        &[],
        Kind::List,
        "",
        None,
        "Replicas whose copying is slowed down, on the leader's side.",
    ),
    row(
        "local.retention.bytes",
        &[("log.local.retention.bytes", 1)],
        Kind::Number(-2, i64::MAX),
        "-2",
        None,
        "Bytes kept locally with tiered storage, which this node does not have.",
    ),
    row(
        "local.retention.ms",
        &[("log.local.retention.ms", 1)],
        Kind::Number(-2, i64::MAX),
        "-2",
        None,
        "Time kept locally with tiered storage, which this node does not have.",
    ),
    row(
        "max.compaction.lag.ms",
        &[("log.cleaner.max.compaction.lag.ms", 1)],
        Kind::Number(1, i64::MAX),
        "9223372036854775807",
        None,
        "How long a record may stay uncompacted.",
    ),
    row(
        "max.message.bytes",
        &[("message.max.bytes", 1)],
        INT,
        "1048588",
        Some(|c, v| c.max_message_bytes = number(v)),
        "The largest batch, as it is stored.",
    ),
    row(
        "message.timestamp.after.max.ms",
        &[("log.message.timestamp.after.max.ms", 1)],
        LONG,
        "3600000",
        Some(|c, v| c.timestamp_after_max_ms = number(v)),
        "How far in the future a record's timestamp may be.",
    ),
    row(
        "message.timestamp.before.max.ms",
        &[("log.message.timestamp.before.max.ms", 1)],
        LONG,
        "9223372036854775807",
        Some(|c, v| c.timestamp_before_max_ms = number(v)),
        "How far in the past a record's timestamp may be.",
    ),
    row(
        "message.timestamp.type",
        &[("log.message.timestamp.type", 1)],
        Kind::Choice(&["CreateTime", "LogAppendTime"]),
        "CreateTime",
        Some(|c, v| c.timestamp_type = timestamp_type(v)),
        "Whose clock sets timestamps: the producer's or the leader's.",
    ),
    row(
        "min.cleanable.dirty.ratio",
        &[("log.cleaner.min.cleanable.ratio", 1)],
        Kind::Fraction(0.0, 1.0),
        "0.5",
        None,
        "Which part of a log must be uncompacted before it is compacted.",
    ),
    row(
        "min.compaction.lag.ms",
        &[("log.cleaner.min.compaction.lag.ms", 1)],
        LONG,
        "0",
        None,
        "How long a record stays uncompacted at least.",
    ),
    row(
        "min.insync.replicas",
        &[("min.insync.replicas", 1)],
        Kind::Number(1, INT_MAX),
        "1",
        Some(|c, v| c.min_insync_replicas = number(v)),
        "How many replicas must have a record before it counts as committed (rules 17, 36, 37).",
    ),
    row(
        "preallocate",
        &[("log.preallocate", 1)],
        BOOLEAN,
        "false",
        None,
        "Whether segment files get their full size when they are created.",
    ),
    row(
        "remote.storage.enable",
        &[],
        BOOLEAN,
        "false",
        None,
        "Whether segments move to tiered storage, which this node does not have.",
    ),
    row(
        "retention.bytes",
        &[("log.retention.bytes", 1)],
        Kind::Number(i64::MIN, i64::MAX),
        "-1",
        None,
        "How many bytes of a partition are kept.",
    ),
    row(
        "retention.ms",
        &[
            ("log.retention.ms", 1),
            ("log.retention.minutes", MINUTE_MS),
            ("log.retention.hours", HOUR_MS),
        ],
        Kind::Number(-1, i64::MAX),
        "604800000",
        None,
        "How long records are kept.",
    ),
    row(
        "segment.bytes",
        &[("log.segment.bytes", 1)],
        Kind::Number(1 << 20, INT_MAX),
        "1073741824",
        Some(|c, v| c.log.segment_bytes = number(v)),
        "The largest segment file.",
    ),
    row(
        "segment.index.bytes",
        &[("log.index.size.max.bytes", 1)],
        Kind::Number(4, INT_MAX),
        "10485760",
        Some(|c, v| c.log.segment_index_bytes = number(v)),
        "The largest index file.",
    ),
    row(
        "segment.jitter.ms",
        &[("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR_MS)],
        LONG,
        "0",
        None,
        "By how much at most segment.ms is shortened at random.",
    ),
    row(
        "segment.ms",
        &[("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)],
        Kind::Number(1, i64::MAX),
        "604800000",
        Some(|c, v| c.log.segment_ms = number(v)),
        "After how long a segment file is closed.",
    ),
    row(
        "unclean.leader.election.enable",
        &[("unclean.leader.election.enable", 1)],
        BOOLEAN,
        "false",
        None,
        "Whether a replica outside of the ISR may lead; the controller decides by it (rule 27).",
    ),
    INTERNAL_SEGMENT_BYTES,
];

/// For tests: segments below the smallest that `segment.bytes` allows; not shown to anyone.
const INTERNAL_SEGMENT_BYTES: TopicProperty = TopicProperty {
    property: Property {
        name: "internal.segment.bytes",
        kind: Kind::Number(1, INT_MAX),
        default: None,
        doc: "For tests: the largest segment file, without a lower bound.",
        apply: Some(|c, v| c.log.segment_bytes = number(v)),
    },
    node_names: &[],
};

fn timestamp_type(value: &str) -> TimestampType {
    match value.trim() {
        "LogAppendTime" => TimestampType::LogAppendTime,
        _ => TimestampType::CreateTime,
    }
}

/// The property of this name at topics.
pub fn topic_property(name: &str) -> Option<&'static Property<TopicConfig>> {
    let found = TOPIC_TABLE.iter().find(|row| row.property.name == name);
    found.map(|row| &row.property)
}

/// The topics' property that this name sets the default of in a node's file.
pub fn by_node_name(name: &str) -> Option<&'static TopicProperty> {
    let named =
        |row: &&TopicProperty| row.node_names.iter().any(|(node_name, _)| *node_name == name);
    TOPIC_TABLE.iter().find(named)
}
