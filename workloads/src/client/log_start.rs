//! The ListOffsets request of a consumer: where its keys begin.

use std::collections::BTreeMap;

use highwater_wire::{
    StrBytes,
    messages::{
        ListOffsetsRequest, ListOffsetsResponse, TopicName,
        list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic},
    },
};

use crate::{Catalog, Key, op::code, outcome};

/// The version to ask in; every version asks by name.
pub const VERSION: i16 = 7;
/// The timestamp that asks for the log start.
const EARLIEST: i64 = -2;

/// Asks where keys begin, each with the leader epoch that its asker knows; -1 is none.
pub fn request(catalog: &Catalog, keys: &[(Key, i32)]) -> ListOffsetsRequest {
    let mut topics: BTreeMap<&str, Vec<ListOffsetsPartition>> = BTreeMap::new();
    for (key, leader_epoch) in keys {
        let partition = ListOffsetsPartition::default()
            .with_partition_index(catalog.partition(*key))
            .with_current_leader_epoch(*leader_epoch)
            .with_timestamp(EARLIEST);
        topics.entry(&catalog.topic(*key).name).or_default().push(partition);
    }
    let topic = |(name, partitions): (&str, _)| {
        let name = TopicName(StrBytes::from_string(name.to_owned()));
        ListOffsetsTopic::default().with_name(name).with_partitions(partitions)
    };
    ListOffsetsRequest::default().with_topics(topics.into_iter().map(topic).collect())
}

/// Where each key begins, or the code that its leader answered.
pub fn told(
    catalog: &Catalog,
    answer: &ListOffsetsResponse,
) -> Vec<(Key, Result<i64, &'static str>)> {
    let mut keys = Vec::new();
    for topic in &answer.topics {
        for partition in &topic.partitions {
            let Some(key) = catalog.by_name(&topic.name, partition.partition_index) else {
                continue;
            };
            let begins = match (partition.error_code, partition.offset) {
                (0, offset @ 0..) => Ok(offset),
                (0, _) => Err(code::MALFORMED_ANSWER),
                (error, _) => Err(outcome::row(error).name),
            };
            keys.push((key, begins));
        }
    }
    keys
}
