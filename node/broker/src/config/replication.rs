//! The settings of a broker's data path.

use super::topic::TopicConfig;

/// How a broker replicates and serves records, named as in Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicationConfig {
    /// `replica.lag.time.max.ms`.
    pub lag_time_max_ms: u64,
    /// `replica.fetch.wait.max.ms`.
    pub fetch_wait_max_ms: i32,
    /// `replica.fetch.min.bytes`.
    pub fetch_min_bytes: i32,
    /// `replica.fetch.max.bytes`, of one partition.
    pub fetch_max_bytes: i32,
    /// `replica.fetch.response.max.bytes`, of one request.
    pub fetch_response_max_bytes: i32,
    /// `replica.fetch.backoff.ms`.
    pub fetch_backoff_ms: u64,
    /// `replica.socket.timeout.ms`.
    pub socket_timeout_ms: u64,
    /// `replica.high.watermark.checkpoint.interval.ms`.
    pub high_watermark_checkpoint_interval_ms: u64,
    /// `fetch.max.bytes`: the most that one Fetch is answered with.
    pub answer_max_bytes: usize,
    /// `max.incremental.fetch.session.cache.slots`.
    pub fetch_session_slots: usize,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i64,
    /// `producer.id.expiration.check.interval.ms`.
    pub producer_id_expiration_check_interval_ms: u64,
    /// What topics are kept by when nothing was set for them.
    pub topic_defaults: TopicConfig,
}

impl Default for ReplicationConfig {
    /// Kafka's defaults.
    fn default() -> ReplicationConfig {
        ReplicationConfig {
            lag_time_max_ms: 30_000,
            fetch_wait_max_ms: 500,
            fetch_min_bytes: 1,
            fetch_max_bytes: 1 << 20,
            fetch_response_max_bytes: 10 << 20,
            fetch_backoff_ms: 1_000,
            socket_timeout_ms: 30_000,
            high_watermark_checkpoint_interval_ms: 5_000,
            answer_max_bytes: 55 << 20,
            fetch_session_slots: 1_000,
            producer_id_expiration_ms: 86_400_000,
            producer_id_expiration_check_interval_ms: 600_000,
            topic_defaults: TopicConfig::default(),
        }
    }
}
