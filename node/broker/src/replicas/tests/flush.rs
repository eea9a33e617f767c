//! Contract c.1.4: with flush.messages=1 no power loss takes what was acknowledged.

use highwater_log::{Command, Done, LogConfig, LogId, MemDisk, Store};
use highwater_node_core::metadata::Record;
use highwater_node_core::metadata::record::{ConfigRecord, Resource};
use highwater_node_core::mutant;

use super::bench::{DataBench, NAME, TOPIC, batch};

/// The log end after one acknowledged record and a power loss; `switch` is a mutant's id.
fn end_after_power_loss(switch: Option<&str>) -> i64 {
    let mut data = DataBench::new();
    if let Some(id) = switch {
        (mutant::find(id).expect("a mutant").apply)(&mut data.bench.node.rules);
    }
    data.apply(vec![Record::Config(ConfigRecord {
        resource: Resource::Topic(NAME.to_owned()),
        name: "flush.messages".to_owned(),
        value: Some("1".to_owned()),
    })]);
    data.create(NAME, TOPIC, &[1]);
    data.produce(-1, batch(None));
    assert_eq!(data.produced(), Some((0, 0)));
    let mut disk: MemDisk = data.store.into_disk();
    disk.lose_power(|_| 0);
    let mut store = Store::new(disk);
    store.execute(0, Command::Find).unwrap();
    let command = Command::Open {
        log: LogId(1),
        dir: format!("{NAME}-0"),
        topic_id: Some(TOPIC.0),
        config: LogConfig::default(),
    };
    match store.execute(0, command).unwrap() {
        Done::Opened(opened) => opened.state.log_end,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_record_that_counts_survives_power_loss() {
    assert_eq!(end_after_power_loss(None), 1);
}

#[test]
fn mutant_fs_01_loses_it() {
    assert_eq!(end_after_power_loss(Some("FS-01")), 0);
}
