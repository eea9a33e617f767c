//! DescribeLogDirs: how much of the log directory each partition takes.

use std::collections::{BTreeMap, BTreeSet};

use highwater_log::{Command, Completion, Done, LogId};
use highwater_node_core::types::PartitionId;
use highwater_wire::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use highwater_wire::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse, TopicName};
use highwater_wire::{ErrorCode, StrBytes};

use crate::node::Node;
use crate::reply::ReplyToken;

entry!(DescribeLogDirs, Broker, handle);

/// A size that is not known.
const UNKNOWN_BYTES: i64 = -1;

fn handle(node: &mut Node, request: DescribeLogDirsRequest, reply: ReplyToken) {
    let asked = asked(&request);
    node.kernel.disk(Command::Sizes, |node, done| {
        let result = result(node, asked, done);
        let log_dir = StrBytes::from_string(node.config.log_dir.clone());
        let response =
            DescribeLogDirsResponse::default().with_results(vec![result.with_log_dir(log_dir)]);
        node.kernel.reply(reply, response);
    });
}

/// The partitions that are asked for; `None` for all.
fn asked(request: &DescribeLogDirsRequest) -> Option<BTreeSet<(String, i32)>> {
    let topics = request.topics.as_ref()?;
    let named = topics
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|&index| (topic.topic.to_string(), index)));
    Some(named.collect())
}

fn result(
    node: &Node,
    asked: Option<BTreeSet<(String, i32)>>,
    done: Completion,
) -> DescribeLogDirsResult {
    let Ok(Done::Sizes { logs, volume }) = done else {
        return DescribeLogDirsResult::default()
            .with_error_code(ErrorCode::KafkaStorageError.code())
            .with_total_bytes(UNKNOWN_BYTES)
            .with_usable_bytes(UNKNOWN_BYTES);
    };
    let bytes = |bytes: Option<u64>| bytes.map_or(UNKNOWN_BYTES, |bytes| bytes as i64);
    DescribeLogDirsResult::default()
        .with_topics(topics(node, asked, &logs.into_iter().collect()))
        .with_total_bytes(bytes(volume.map(|volume| volume.total)))
        .with_usable_bytes(bytes(volume.map(|volume| volume.usable)))
}

fn topics(
    node: &Node,
    asked: Option<BTreeSet<(String, i32)>>,
    sizes: &BTreeMap<LogId, u64>,
) -> Vec<DescribeLogDirsTopic> {
    let mut by_name: BTreeMap<String, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
    let is_asked = |topic: &str, index: i32| {
        asked.as_ref().is_none_or(|asked| asked.contains(&(topic.to_owned(), index)))
    };
    for (PartitionId { index, .. }, hosted) in node.broker().replicas.hosted.iter() {
        let Some(size) = sizes.get(&hosted.log) else { continue };
        if is_asked(&hosted.topic, index) {
            let row = DescribeLogDirsPartition::default()
                .with_partition_index(index)
                .with_partition_size(*size as i64);
            by_name.entry(hosted.topic.clone()).or_default().push(row);
        }
    }
    let topic = |(name, partitions)| {
        DescribeLogDirsTopic::default()
            .with_name(TopicName(StrBytes::from_string(name)))
            .with_partitions(partitions)
    };
    by_name.into_iter().map(topic).collect()
}
