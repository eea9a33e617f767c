//! What each command does, and how it fails.

use bytes::Bytes;

use super::{Bench, DIR, LOG, NOW_MS, TOPIC, batch, batches, files, open, tiny};
use crate::disk::{Disk, MemDisk};
use crate::store::{
    Command, Done, EpochStart, FoundLog, LogConfig, LogId, Store, StoreError, TimeQuery,
};

fn epoch(epoch: i32, start_offset: i64) -> EpochStart {
    EpochStart { epoch, start_offset }
}

#[test]
fn what_was_appended_is_read_across_segments() {
    let mut bench = Bench::tiny();
    let all = batches(0, 40, 0);
    assert_eq!(bench.append(all.clone()), Ok(40));
    assert_eq!(bench.read_all(0), all);
    let mut disk = bench.store.into_disk();
    let logs = files(&mut disk).iter().filter(|name| name.ends_with(".log")).count();
    assert!(logs > 2, "{logs} segments");
}

#[test]
fn rule_1_a_batch_before_the_end_is_refused() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 4, 0)).unwrap();
    let before = bench.append(batch(3, 0, 1, 0));
    assert!(matches!(before, Err(StoreError::BadAppend(_))), "{before:?}");
    assert_eq!(bench.append(batch(7, 0, 1, 0)), Ok(8));
}

#[test]
fn rule_3_an_older_epoch_is_refused() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 4, 3)).unwrap();
    let older = bench.append(batch(4, 2, 1, 0));
    assert!(matches!(older, Err(StoreError::BadAppend(_))), "{older:?}");
}

#[test]
fn bytes_that_are_no_batches_are_refused_and_nothing_is_appended() {
    let mut bench = Bench::tiny();
    let half = batches(0, 4, 0).slice(..100);
    assert!(matches!(bench.append(half), Err(StoreError::BadAppend(_))));
    assert_eq!(bench.append(batches(0, 4, 0)), Ok(4));
}

#[test]
fn rule_7_reading_is_bounded_by_start_and_end() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 4, 0)).unwrap();
    assert_eq!(bench.read(4, i64::MAX, 100), Bytes::new());
    for offset in [-1, 5] {
        let wanted = StoreError::OutOfRange { offset, log_start: 0, log_end: 4 };
        assert_eq!(bench.try_read(offset, 9, 100, true), Err(wanted));
    }
}

#[test]
fn rule_58_nothing_at_the_bound_is_read() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 8, 0)).unwrap();
    assert_eq!(bench.read(2, 6, 10_000), batches(2, 6, 0));
    assert_eq!(bench.read(6, 6, 10_000), Bytes::new());
    assert_eq!(bench.read(7, 6, 10_000), Bytes::new());
}

#[test]
fn a_read_inside_a_batch_gives_the_batch() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 8, 0)).unwrap();
    assert_eq!(bench.read(3, 4, 10_000), batches(2, 4, 0));
}

#[test]
fn a_batch_larger_than_asked_for_is_given_only_when_wanted() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    let large = batch(0, 0, 5_000, 0);
    bench.append(large.clone()).unwrap();
    bench.append(batch(5_000, 0, 1, 0)).unwrap();
    assert_eq!(bench.try_read(10, 9_000, 10, true), Ok(large));
    assert_eq!(bench.try_read(10, 9_000, 10, false), Ok(Bytes::new()));
    assert_eq!(bench.try_read(5_000, 9_000, 1_000, false), Ok(batch(5_000, 0, 1, 0)));
}

#[test]
fn rule_5_an_assigned_epoch_shows_after_a_truncation_only_with_records() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 4, 0)).unwrap();
    bench.run(Command::AssignEpoch { log: LOG, epoch: 2, start_offset: 4 }).unwrap();
    bench.append(batches(4, 8, 3)).unwrap();
    assert_eq!(bench.truncate(8).epochs, [epoch(0, 0), epoch(3, 4)]);
    bench.run(Command::AssignEpoch { log: LOG, epoch: 5, start_offset: 8 }).unwrap();
    assert_eq!(bench.truncate(8).epochs, [epoch(0, 0), epoch(3, 4)]);
    assert_eq!(bench.truncate(3).epochs, [epoch(0, 0)]);
}

#[test]
fn truncation_removes_the_batch_that_holds_the_offset() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    let state = bench.truncate(31);
    assert_eq!((state.log_start, state.log_end), (0, 30));
    assert_eq!(bench.read_all(0), batches(0, 30, 0));
    assert_eq!(bench.append(batches(30, 50, 1)), Ok(50));
    assert_eq!(bench.read_all(30), batches(30, 50, 1));
}

#[test]
fn rule_6_full_truncation_moves_all_offsets_together() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    let done = bench.run(Command::TruncateFully { log: LOG, start: 100 }).unwrap();
    let Done::Truncated(state) = done else { panic!("{done:?}") };
    assert_eq!((state.log_start, state.log_end), (100, 100));
    assert_eq!((state.epochs, state.producers), (vec![], vec![]));
    assert_eq!(bench.append(batches(100, 110, 4)), Ok(110));
    let bench = bench.restart(tiny());
    assert_eq!((bench.opened.state.log_start, bench.opened.state.log_end), (100, 110));
}

#[test]
fn offsets_are_found_by_time() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 6)).unwrap();
    let mut find = |query, upto| {
        let done = bench.run(Command::OffsetForTime { log: LOG, query, upto }).unwrap();
        let Done::TimedOffset(found) = done else { panic!("{done:?}") };
        found.map(|found| (found.timestamp, found.offset, found.leader_epoch))
    };
    assert_eq!(find(TimeQuery::AtOrAfter(201), 40), Some((201, 21, 6)));
    assert_eq!(find(TimeQuery::AtOrAfter(202), 40), Some((220, 22, 6)));
    assert_eq!(find(TimeQuery::AtOrAfter(202), 22), None);
    assert_eq!(find(TimeQuery::AtOrAfter(382), 40), None);
    assert_eq!(find(TimeQuery::Largest, 40), Some((381, 39, 6)));
    assert_eq!(find(TimeQuery::Largest, 39), None);
}

#[test]
fn rule_76_a_directory_of_another_topic_id_is_refused() {
    let mut bench = Bench::tiny();
    bench.run(Command::Close { log: LOG }).unwrap();
    let dir = DIR.to_owned();
    let wanted = TOPIC + 1;
    let topic_id = Some(wanted);
    let done = bench.run(Command::Open { log: LOG, dir: dir.clone(), topic_id, config: tiny() });
    assert_eq!(done, Err(StoreError::TopicId { dir, found: TOPIC, wanted }));
}

#[test]
fn directories_outside_the_log_directory_are_refused() {
    let mut bench = Bench::tiny();
    for dir in ["../x-0", "a/b-0", "..-0", "", "t", ".-0"] {
        let dir = dir.to_owned();
        let log = LogId(9);
        let open = Command::Open { log, dir: dir.clone(), topic_id: None, config: tiny() };
        assert_eq!(bench.run(open), Err(StoreError::BadName(dir)));
    }
}

#[test]
fn a_deleted_log_leaves_nothing_to_its_namesake() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    bench.run(Command::Sync { log: LOG }).unwrap();
    bench.run(Command::Checkpoint { high_watermarks: vec![(LOG, 40)] }).unwrap();
    bench.run(Command::Delete { log: LOG }).unwrap();
    assert_eq!(bench.run(Command::Sync { log: LOG }), Err(StoreError::Unknown(LOG)));
    let opened = open(&mut bench.store, tiny()).unwrap();
    assert_eq!((opened.state.log_end, opened.high_watermark), (0, 0));
    bench.append(batches(0, 60, 0)).unwrap();
    let bench = bench.restart(tiny());
    assert_eq!((bench.opened.state.log_end, bench.opened.high_watermark), (60, 0));
}

#[test]
fn rule_76_a_stray_is_kept_under_another_name_as_in_kafka() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 100, 0)).unwrap();
    bench.run(Command::Checkpoint { high_watermarks: vec![(LOG, 100)] }).unwrap();
    let mut disk = bench.store.into_disk();
    let kept = files(&mut disk);
    let mut store = Store::new(disk);
    store.execute(NOW_MS, Command::Find).unwrap();
    let set_aside = Command::SetAside { dir: DIR.to_owned(), id: 0xab };
    let Ok(Done::SetAside { dir }) = store.execute(NOW_MS, set_aside) else {
        panic!("it is there")
    };
    assert_eq!(dir, "t-0.000000000000000000000000000000ab-stray");
    let state = open(&mut store, tiny()).unwrap();
    assert_eq!((state.state.log_end, state.high_watermark), (0, 0), "nothing for its namesake");
    let stop = Command::CleanShutdown { high_watermarks: vec![], broker_epoch: None };
    store.execute(NOW_MS, stop).unwrap();
    let found = store.execute(NOW_MS, Command::Find).unwrap();
    let logs = vec![FoundLog { dir: DIR.to_owned(), topic_id: Some(TOPIC) }];
    assert_eq!(found, Done::Found { logs, clean: true, broker_epoch: None });
    let mut disk = store.into_disk();
    let still: Vec<String> = disk.list(&dir).unwrap().into_iter().map(|e| e.name).collect();
    assert_eq!(still, kept);
}

#[test]
fn half_deleted_directories_are_removed_at_the_next_start() {
    let mut disk = MemDisk::new();
    disk.plant("t-0.00ff-delete/00000000000000000000.log", b"old");
    disk.plant("notes/readme", b"not ours");
    let mut store = Store::new(disk);
    let found = store.execute(NOW_MS, Command::Find).unwrap();
    assert_eq!(found, Done::Found { logs: vec![], clean: false, broker_epoch: None });
    let disk = store.into_disk();
    assert_eq!(disk.content("t-0.00ff-delete/00000000000000000000.log"), None);
    assert!(disk.content("notes/readme").is_some());
}

#[test]
fn rule_31_a_clean_stop_is_noted_once() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    bench.stop(30, Some(77));
    let mut store = Store::new(bench.store.into_disk());
    let logs = vec![FoundLog { dir: DIR.to_owned(), topic_id: Some(TOPIC) }];
    let found = store.execute(NOW_MS, Command::Find).unwrap();
    assert_eq!(found, Done::Found { logs: logs.clone(), clean: true, broker_epoch: Some(77) });
    let opened = open(&mut store, tiny()).unwrap();
    assert_eq!((opened.high_watermark, opened.state.log_end), (30, 40));
    let mut store = Store::new(store.into_disk());
    let found = store.execute(NOW_MS, Command::Find).unwrap();
    assert_eq!(found, Done::Found { logs, clean: false, broker_epoch: None });
}

#[test]
fn rule_31_a_stop_is_not_clean_while_a_log_is_unchecked_since_a_crash() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    let is_clean = |store: &mut Store<MemDisk>| match store.execute(NOW_MS, Command::Find) {
        Ok(Done::Found { clean, .. }) => clean,
        other => panic!("{other:?}"),
    };
    let stop = || Command::CleanShutdown { high_watermarks: Vec::new(), broker_epoch: Some(3) };
    let mut store = Store::new(bench.store.into_disk());
    assert!(!is_clean(&mut store));
    store.execute(NOW_MS, stop()).unwrap();
    let mut store = Store::new(store.into_disk());
    assert!(!is_clean(&mut store), "the log was found after a crash and never opened");
    open(&mut store, tiny()).unwrap();
    store.execute(NOW_MS, stop()).unwrap();
    assert!(is_clean(&mut Store::new(store.into_disk())));
}

#[test]
fn rule_60_a_broken_batch_is_no_end_of_its_segment() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    let mut disk = bench.store.into_disk();
    let path = format!("{DIR}/00000000000000000000.log");
    let mut content = crate::file::read(&mut disk, &path).unwrap().unwrap().to_vec();
    // The magic of the second batch.
    let second = batch(0, 0, 2, 0).len();
    content[second + 16] = 9;
    disk.plant(&path, &content);
    disk.plant(".kafka_cleanshutdown", b"{\"version\":0}");
    let mut bench = Bench::new(disk, tiny());
    assert_eq!(bench.read(0, 40, 1), batch(0, 0, 2, 0));
    let error = bench.try_read(2, 40, 10_000, true).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn segments_end_when_their_time_is_over() {
    let config = LogConfig { segment_ms: 100, ..LogConfig::default() };
    let mut bench = Bench::new(MemDisk::new(), config);
    for (offset, timestamp) in [(0, 1_000), (1, 1_100), (2, 1_101), (3, 1_150)] {
        bench.append(batch(offset, 0, 1, timestamp)).unwrap();
    }
    let mut disk = bench.store.into_disk();
    let logs = files(&mut disk).into_iter().filter(|name| name.ends_with(".log"));
    assert_eq!(logs.collect::<Vec<_>>(), ["00000000000000000000.log", "00000000000000000002.log"]);
}

#[test]
fn a_segment_ends_before_its_index_overflows() {
    let config =
        LogConfig { segment_index_bytes: 36, index_interval_bytes: 0, ..LogConfig::default() };
    let mut bench = Bench::new(MemDisk::new(), config);
    (0..20).for_each(|at| {
        bench.append(batch(at, 0, 1, at)).unwrap();
    });
    bench.stop(0, None);
    let mut disk = bench.store.into_disk();
    for name in files(&mut disk).iter().filter(|name| name.ends_with("index")) {
        let length = disk.content(&format!("{DIR}/{name}")).unwrap().len();
        assert!(length <= 36, "{name} has {length} bytes");
    }
}

#[test]
fn an_offset_that_an_index_cannot_express_begins_a_segment() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    bench.append(batch(0, 0, 1, 0)).unwrap();
    let far = i64::from(i32::MAX) + 1;
    assert_eq!(bench.append(batch(far, 0, 1, 0)), Ok(far + 1));
    assert_eq!(bench.read(1, i64::MAX, 100), batch(far, 0, 1, 0));
}

#[test]
fn small_files_are_replaced_as_a_whole() {
    let mut bench = Bench::tiny();
    let path = || "quorum-state".to_owned();
    assert_eq!(bench.run(Command::ReadFile { path: path() }), Ok(Done::File(None)));
    for content in ["first", "2nd"] {
        let write = Command::WriteFile { path: path(), content: content.into() };
        assert_eq!(bench.run(write), Ok(Done::FileWritten));
        let read = bench.run(Command::ReadFile { path: path() });
        assert_eq!(read, Ok(Done::File(Some(content.into()))));
    }
}

#[test]
fn sizes_are_those_of_the_batches() {
    let mut bench = Bench::tiny();
    let all = batches(0, 40, 0);
    bench.append(all.clone()).unwrap();
    let logs = vec![(LOG, all.len() as u64)];
    assert_eq!(bench.run(Command::Sizes), Ok(Done::Sizes { logs, volume: None }));
}
