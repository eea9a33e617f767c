//! The Fetch request of a consumer.

use highwater_wire::{
    RequestKind, StrBytes,
    messages::{
        FetchRequest, TopicName,
        fetch_request::{FetchPartition, FetchTopic},
    },
};

use crate::{Catalog, Key, Settings, settings::Isolation};

/// The newest version that we speak.
const VERSION: i16 = 16;
/// The newest version in which a topic is asked for by its name.
const BY_NAME: i16 = 12;
/// Bytes of one key that one answer may hold: keeps a line of the history readable.
const PARTITION_MAX_BYTES: i32 = 128 * 1024;
const MAX_BYTES: i32 = 4 * 1024 * 1024;

/// What to ask of one key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    pub key: Key,
    pub offset: i64,
    pub leader_epoch: i32,
}

/// The version to ask in: by name where a broker gave its topics no ids, as Kafka's clients do.
pub(super) fn version(catalog: &Catalog) -> i16 {
    if catalog.has_ids() { VERSION } else { BY_NAME }
}

/// A topic bears both name and id: each version has one of them.
pub(super) fn request(catalog: &Catalog, settings: &Settings, asks: &[Ask]) -> RequestKind {
    let mut topics: Vec<FetchTopic> = Vec::new();
    for ask in asks {
        let topic = catalog.topic(ask.key);
        let name = TopicName(StrBytes::from_string(topic.name.clone()));
        let partition = FetchPartition::default()
            .with_partition(catalog.partition(ask.key))
            .with_current_leader_epoch(ask.leader_epoch)
            .with_fetch_offset(ask.offset)
            .with_partition_max_bytes(PARTITION_MAX_BYTES);
        match topics.iter_mut().find(|asked| asked.topic == name) {
            Some(asked) => asked.partitions.push(partition),
            None => {
                let asked = FetchTopic::default().with_topic(name).with_topic_id(topic.id);
                topics.push(asked.with_partitions(vec![partition]));
            }
        }
    }
    let isolation_level = match settings.isolation {
        Isolation::ReadUncommitted => 0,
        Isolation::ReadCommitted => 1,
    };
    let request = FetchRequest::default()
        .with_max_wait_ms(settings.timeouts.poll_wait_ms as i32)
        .with_min_bytes(1)
        .with_max_bytes(MAX_BYTES)
        .with_isolation_level(isolation_level)
        .with_topics(topics);
    RequestKind::Fetch(request)
}
