//! How a topic is asked for, whoever wants it.

use std::collections::BTreeMap;

use highwater_wire::{
    StrBytes,
    messages::{
        BrokerId, TopicName,
        create_topics_request::{CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig},
    },
};

/// The version in which topics are created.
pub const CREATE_TOPICS_VERSION: i16 = 7;

/// A topic with the replicas of each partition, the preferred leader first, and its settings.
#[must_use]
pub fn creatable(
    name: &str,
    assignment: &[Vec<i32>],
    configs: &BTreeMap<String, String>,
) -> CreatableTopic {
    let assigned = |(index, replicas): (i32, &Vec<i32>)| {
        CreatableReplicaAssignment::default()
            .with_partition_index(index)
            .with_broker_ids(replicas.iter().copied().map(BrokerId).collect())
    };
    let config = |(name, value): (&String, &String)| {
        CreatableTopicConfig::default()
            .with_name(StrBytes::from_string(name.clone()))
            .with_value(Some(StrBytes::from_string(value.clone())))
    };
    // The assignment says how many.
    CreatableTopic::default()
        .with_name(TopicName(StrBytes::from_string(name.to_owned())))
        .with_num_partitions(-1)
        .with_replication_factor(-1)
        .with_assignments((0..).zip(assignment).map(assigned).collect())
        .with_configs(configs.iter().map(config).collect())
}
