//! Which logs are opened, cut, set aside and removed.

use highwater_log::disk::Disk;
use highwater_log::{Command, LogConfig, LogId};
use highwater_node_core::metadata::Record;
use highwater_node_core::types::TopicId;

use super::bench::{DataBench, NAME, TOPIC, batch, partition};
use crate::replicas;
use crate::startup::Startup;

const OLD: TopicId = TopicId(0xdead);

fn directories(data: DataBench) -> Vec<String> {
    let mut disk = data.store.into_disk();
    let entries = disk.list("").unwrap();
    entries.into_iter().filter(|entry| entry.is_dir).map(|entry| entry.name).collect()
}

/// A log that an earlier incarnation of this broker left behind.
fn leave(data: &mut DataBench, dir: &str) {
    let (log, topic_id) = (LogId(1 << 40), Some(OLD.0));
    let config = LogConfig::default();
    data.store.execute(0, Command::Open { log, dir: dir.into(), topic_id, config }).unwrap();
    data.store.execute(0, Command::Close { log }).unwrap();
}

/// True when this is what a directory of that name was renamed to.
fn is_stray(dir: &str, name: &str) -> bool {
    let id = dir.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    id.and_then(|rest| rest.strip_suffix("-stray")).is_some_and(|id| id.len() == 32)
}

/// A broker whose log directory holds these logs of the old topic.
fn with_found(dirs: &[&str]) -> DataBench {
    let mut data = DataBench::new();
    let found = |dir: &&str| highwater_log::store::FoundLog {
        dir: (*dir).to_owned(),
        topic_id: Some(OLD.0),
    };
    dirs.iter().for_each(|dir| leave(&mut data, dir));
    let logs = dirs.iter().map(found).collect();
    replicas::start(&mut data.bench.node, &Startup { logs, clean: true, previous_epoch: None });
    // As at a start: nothing was claimed yet.
    data.bench.node.broker_mut().replicas.following = false;
    data
}

#[test]
fn rule_76_a_log_of_an_earlier_topic_of_the_name_does_not_join_the_new_one() {
    let mut data = with_found(&["alpha-0"]);
    data.create(NAME, TOPIC, &[1]);
    data.produce(1, batch(None));
    assert_eq!(data.produced(), Some((0, 0)));
    let left = directories(data);
    assert_eq!(left[0], "alpha-0");
    assert!(is_stray(&left[1], "alpha-0") && left.len() == 2, "{left:?}");
}

#[test]
fn rule_76_a_log_without_a_partition_is_set_aside_and_not_deleted() {
    let mut data = with_found(&["gone-3"]);
    data.create(NAME, TOPIC, &[1]);
    let left = directories(data);
    assert_eq!(left[0], "alpha-0");
    assert!(is_stray(&left[1], "gone-3") && left.len() == 2, "{left:?}");
}

#[test]
fn a_deleted_topic_takes_its_log_along_and_whoever_waits_is_told() {
    let mut data = DataBench::new();
    data.create(NAME, TOPIC, &[1, 2, 3]);
    data.produce(-1, batch(None));
    assert_eq!(data.produced(), None);
    data.apply(vec![Record::RemoveTopic(TOPIC)]);
    let unknown = highwater_wire::ErrorCode::UnknownTopicOrPartition.code();
    assert_eq!(data.produced(), Some((unknown, -1)));
    assert!(data.bench.node.broker().replicas.replica(partition(0)).is_none());
    assert_eq!(directories(data), Vec::<String>::new());
}

#[test]
fn min_isr_of_the_topic_counts_when_it_is_set() {
    use highwater_node_core::metadata::record::{ConfigRecord, Resource};
    let mut data = DataBench::new();
    data.create(NAME, TOPIC, &[1]);
    data.apply(vec![Record::Config(ConfigRecord {
        resource: Resource::Topic(NAME.to_owned()),
        name: "max.message.bytes".to_owned(),
        value: Some("10".to_owned()),
    })]);
    data.produce(-1, batch(None));
    let too_large = highwater_wire::ErrorCode::MessageTooLarge.code();
    assert_eq!(data.produced(), Some((too_large, -1)));
}
