//! Apache Kafka's own dump tool reads the files that the store writes.
//!
//! Needs `HIGHWATER_KAFKA_LIBS`, a folder with Kafka's jars; skipped without it, but not in CI.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test outside of the core")]

use std::path::Path;
use std::process::Command as Process;

use highwater_log::batch::{BatchBuilder, Codec};
use highwater_log::{Command, Disk, LogConfig, LogId, MemDisk, Store};

const LOG: LogId = LogId(1);
const DIR: &str = "dump-0";

fn libs() -> Option<String> {
    let libs = std::env::var("HIGHWATER_KAFKA_LIBS").ok();
    if libs.is_none() {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!in_ci, "HIGHWATER_KAFKA_LIBS must name the folder of Kafka's jars in CI");
        println!("skipped: HIGHWATER_KAFKA_LIBS is not set");
    }
    libs
}

/// Several segments with every codec, an idempotent producer and two epochs.
fn written() -> MemDisk {
    let mut store = Store::new(MemDisk::new());
    let config =
        LogConfig { segment_bytes: 2_000, index_interval_bytes: 200, ..LogConfig::default() };
    let open = Command::Open { log: LOG, dir: DIR.to_owned(), topic_id: Some(5), config };
    store.execute(0, open).unwrap();
    for round in 0..30i64 {
        let codec = Codec::ALL[round as usize % 5];
        let builder = BatchBuilder::new().codec(codec).place(round * 3, (round / 20) as i32);
        let mut builder = builder.producer(1_000, 0, round as i32 * 3);
        for at in 0..3 {
            let value = format!("value {at} of round {round}");
            builder.push(1_700_000_000_000 + round * 7, Some(b"key"), Some(value.as_bytes()), &[]);
        }
        let batches = builder.build();
        store.execute(0, Command::Append { log: LOG, batches, sync: false }).unwrap();
    }
    store.execute(0, Command::Close { log: LOG }).unwrap();
    store.into_disk()
}

/// Copies the log's files to a folder; gives those that the tool reads.
fn export(mut disk: MemDisk, folder: &Path) -> Vec<String> {
    let names: Vec<String> = disk.list(DIR).unwrap().into_iter().map(|entry| entry.name).collect();
    for name in &names {
        let content = disk.content(&format!("{DIR}/{name}")).unwrap();
        std::fs::write(folder.join(name), content).unwrap();
    }
    let readable = |name: &&String| {
        [".log", ".index", ".timeindex", ".snapshot"].iter().any(|end| name.ends_with(end))
    };
    let path = |name: &String| folder.join(name).display().to_string();
    names.iter().filter(readable).map(path).collect()
}

#[test]
fn kafka_finds_every_batch_valid_and_every_index_right() {
    let Some(libs) = libs() else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = export(written(), folder.path());
    assert!(files.iter().filter(|file| file.ends_with(".log")).count() > 2);
    let dump = Process::new("java")
        .args(["-cp", &format!("{libs}/*"), "org.apache.kafka.tools.DumpLogSegments"])
        .args(["--deep-iteration", "--print-data-log", "--files", &files.join(",")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&dump.stdout);
    assert!(dump.status.success(), "{text}{}", String::from_utf8_lossy(&dump.stderr));
    assert_eq!(text.matches("isvalid: true").count(), 30, "{text}");
    for wrong in ["isvalid: false", "ismatch", "Non-consecutive", "Out of order"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    assert!(text.contains("payload: value 2 of round 29"), "{text}");
    assert!(text.contains("producerId: 1000 producerEpoch: 0"), "{text}");
}
