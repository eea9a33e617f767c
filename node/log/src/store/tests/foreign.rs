//! A partition's folder that Apache Kafka 4.3.1 wrote opens as it is, and stays as it is.

use bytes::Bytes;

use super::{Bench, LOG, NOW_MS};
use crate::batch::{Batches, Codec};
use crate::disk::MemDisk;
use crate::file::topic_id;
use crate::store::{Command, Done, LogConfig, Opened, Store, TimeQuery};

const NAMES: [&str; 4] = [
    "00000000000000000000",
    "00000000000000000032",
    "00000000000000000060",
    "00000000000000000092",
];

fn file(name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/testdata/kafka-4.3.1/");
    std::fs::read(format!("{root}{name}")).unwrap()
}

fn disk(clean: bool) -> MemDisk {
    let mut disk = MemDisk::new();
    let mut plant = |name: &str| disk.plant(name, &file(name));
    for name in NAMES {
        for suffix in ["log", "index", "timeindex"] {
            plant(&format!("foreign-0/{name}.{suffix}"));
        }
    }
    for offset in ["00000000000000000032", "00000000000000000060", "00000000000000000092"] {
        plant(&format!("foreign-0/{offset}.snapshot"));
    }
    plant("foreign-0/leader-epoch-checkpoint");
    plant("foreign-0/partition.metadata");
    if clean {
        plant("foreign-0/00000000000000000100.snapshot");
        plant("recovery-point-offset-checkpoint");
        plant("replication-offset-checkpoint");
        plant("log-start-offset-checkpoint");
        plant(".kafka_cleanshutdown");
    }
    disk
}

fn config() -> LogConfig {
    LogConfig { segment_bytes: 4_000, index_interval_bytes: 500, ..LogConfig::default() }
}

fn open(disk: MemDisk) -> (Store<MemDisk>, Opened) {
    let mut store = Store::new(disk);
    let found = store.execute(NOW_MS, Command::Find).unwrap();
    let Done::Found { logs, .. } = found else { panic!("{found:?}") };
    assert_eq!(logs[0].topic_id, topic_id::parse("hTauyhMATlW7a5hufAGoIA"));
    let dir = logs[0].dir.clone();
    let command = Command::Open { log: LOG, dir, topic_id: logs[0].topic_id, config: config() };
    // The producers of the fixture are from the time when it was written.
    let now_ms = 1_796_000_000_000 - 86_400_000;
    match store.execute(now_ms, command).unwrap() {
        Done::Opened(opened) => (store, opened),
        other => panic!("{other:?}"),
    }
}

fn logs() -> Bytes {
    let content: Vec<u8> =
        NAMES.iter().flat_map(|name| file(&format!("foreign-0/{name}.log"))).collect();
    content.into()
}

#[test]
fn it_is_served_byte_for_byte_after_a_clean_stop_and_after_a_crash() {
    for clean in [true, false] {
        let (store, opened) = open(disk(clean));
        assert_eq!((opened.state.log_start, opened.state.log_end), (0, 100));
        assert_eq!(opened.high_watermark, if clean { 100 } else { 0 });
        assert_eq!((opened.state.epochs.len(), opened.cut_bytes), (1, 0));
        let mut bench = Bench { store, opened };
        assert_eq!(bench.read_all(0), logs());
    }
}

#[test]
fn every_codec_of_the_java_client_is_read() {
    let mut seen = std::collections::BTreeSet::new();
    for batch in Batches::new(logs()) {
        let batch = batch.unwrap();
        batch.check_crc().unwrap();
        seen.insert(batch.header().codec().unwrap());
        let count = batch.records(1 << 20).unwrap().map(Result::unwrap).count();
        assert_eq!(count, batch.header().record_count as usize);
    }
    assert_eq!(seen, Codec::ALL.into_iter().collect());
}

#[test]
fn our_indexes_of_it_are_kafkas() {
    let (mut store, _) = open(disk(false));
    let stop = Command::CleanShutdown { high_watermarks: vec![(LOG, 100)], broker_epoch: Some(12) };
    store.execute(NOW_MS, stop).unwrap();
    let ours = store.into_disk();
    for name in NAMES {
        for suffix in ["index", "timeindex"] {
            let path = format!("foreign-0/{name}.{suffix}");
            assert_eq!(ours.content(&path), Some(&file(&path)[..]), "{path}");
        }
    }
    for path in [".kafka_cleanshutdown", "recovery-point-offset-checkpoint"] {
        assert_eq!(ours.content(path), Some(&file(path)[..]), "{path}");
    }
}

#[test]
fn our_producer_snapshot_of_it_is_kafkas() {
    let mut store = Store::new(disk(false)).with_producer_expiration_ms(i64::MAX);
    store.execute(NOW_MS, Command::Find).unwrap();
    let dir = "foreign-0".to_owned();
    let open = Command::Open { log: LOG, dir, topic_id: None, config: config() };
    store.execute(NOW_MS, open).unwrap();
    store.execute(NOW_MS, Command::Close { log: LOG }).unwrap();
    let path = "foreign-0/00000000000000000100.snapshot";
    assert_eq!(store.into_disk().content(path), Some(&file(path)[..]));
}

#[test]
fn indexes_as_a_crash_of_kafka_leaves_them_are_not_believed() {
    let mut disk = disk(true);
    for suffix in ["index", "timeindex"] {
        let path = format!("foreign-0/{}.{suffix}", NAMES[3]);
        let mut preallocated = file(&path);
        preallocated.resize(240, 0);
        disk.plant(&path, &preallocated);
    }
    let (mut store, opened) = open(disk);
    assert_eq!(opened.state.log_end, 100);
    let query = TimeQuery::Largest;
    let found = store.execute(NOW_MS, Command::OffsetForTime { log: LOG, query, upto: 100 });
    let Done::TimedOffset(Some(found)) = found.unwrap() else { panic!("nothing found") };
    let last = Batches::new(logs()).last().unwrap().unwrap();
    assert_eq!(found.timestamp, last.header().max_timestamp);
}
