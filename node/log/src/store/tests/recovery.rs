//! Repair of damaged files: cuts, flips, holes, broken and missing derived files.

use bytes::Bytes;

use super::{Bench, DIR, batches, files, tiny};
use crate::batch::{BatchBuilder, Batches};
use crate::disk::{Disk, MemDisk};
use crate::store::LogConfig;

fn path(name: &str) -> String {
    format!("{DIR}/{name}")
}

/// A directory with several segments after a crash, and its batches.
fn crashed() -> (MemDisk, Bytes) {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    (bench.store.into_disk(), batches(0, 40, 0))
}

/// The offset after the whole batches in the first `length` bytes.
fn end_of_whole(all: &Bytes, length: usize) -> i64 {
    let whole = Batches::new(all.slice(..length)).flatten();
    whole.last().map_or(0, |batch| batch.header().next_offset())
}

fn segments(disk: &mut MemDisk) -> Vec<String> {
    files(disk).into_iter().filter(|name| name.ends_with(".log")).collect()
}

#[test]
fn the_log_ends_with_the_last_whole_batch_wherever_it_is_cut() {
    let (disk, all) = crashed();
    let names = segments(&mut disk.clone());
    let mut before = 0;
    for (at, name) in names.iter().enumerate() {
        let content = disk.content(&path(name)).unwrap().to_vec();
        for length in 0..content.len() {
            let mut disk = disk.clone();
            disk.plant(&path(name), &content[..length]);
            let mut bench = Bench::new(disk, tiny());
            let log_end = end_of_whole(&all, before + length);
            // A cut between two batches leaves a gap, as compaction does, unless it is at the end.
            let gap = log_end == end_of_whole(&all, before + content.len())
                || Batches::new(content[..length].to_vec().into()).all(|batch| batch.is_ok());
            if at + 1 == names.len() || !gap {
                assert_eq!(bench.opened.state.log_end, log_end, "{name} cut to {length}");
                assert_eq!(bench.read_all(0), batches(0, log_end, 0));
            }
        }
        before += content.len();
    }
}

/// False for base offset and leader epoch, which no checksum covers.
fn is_checked(content: &[u8], at: usize) -> bool {
    let mut start = 0;
    for batch in Batches::new(content.to_vec().into()).map(Result::unwrap) {
        let end = start + batch.bytes().len();
        if at < end {
            return !matches!(at - start, 0..8 | 12..16);
        }
        start = end;
    }
    panic!("{at} is past the last batch");
}

#[test]
fn nothing_after_a_flipped_byte_survives() {
    let (disk, all) = crashed();
    let names = segments(&mut disk.clone());
    let content = disk.content(&path(&names[1])).unwrap().to_vec();
    let before = disk.content(&path(&names[0])).unwrap().len();
    for at in (0..content.len()).filter(|at| is_checked(&content, *at)).step_by(7) {
        let mut disk = disk.clone();
        let mut broken = content.clone();
        broken[at] ^= 0x80;
        disk.plant(&path(&names[1]), &broken);
        let mut bench = Bench::new(disk, tiny());
        assert_eq!(bench.opened.state.log_end, end_of_whole(&all, before + at), "flip at {at}");
        assert!(bench.opened.cut_bytes > 0 && bench.opened.cut_reason.is_some());
        let log_end = bench.opened.state.log_end;
        assert_eq!(bench.append(batches(log_end, log_end + 30, 1)), Ok(log_end + 30));
        assert_eq!(bench.read_all(log_end), batches(log_end, log_end + 30, 1));
    }
}

#[test]
fn zeros_after_the_last_batch_are_cut() {
    let (mut disk, all) = crashed();
    let name = segments(&mut disk).pop().unwrap();
    let mut content = disk.content(&path(&name)).unwrap().to_vec();
    content.resize(content.len() + 4096, 0);
    disk.plant(&path(&name), &content);
    let mut bench = Bench::new(disk, tiny());
    assert_eq!((bench.opened.cut_bytes, bench.read_all(0)), (4096, all));
}

#[test]
fn offsets_that_go_back_are_cut() {
    let mut disk = MemDisk::new();
    let content = [batches(0, 6, 0), batches(4, 8, 0)].concat();
    disk.plant(&path("00000000000000000000.log"), &content);
    let mut bench = Bench::new(disk, tiny());
    assert_eq!(bench.read_all(0), batches(0, 6, 0));
}

#[test]
fn rule_3_epochs_that_go_back_are_cut() {
    let mut disk = MemDisk::new();
    let content = [batches(0, 6, 2), batches(6, 8, 1)].concat();
    disk.plant(&path("00000000000000000000.log"), &content);
    let mut bench = Bench::new(disk, tiny());
    assert_eq!(bench.read_all(0), batches(0, 6, 2));
}

#[test]
fn derived_files_are_built_anew_when_missing_or_broken() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 4)).unwrap();
    bench.stop(40, None);
    let disk = bench.store.into_disk();
    let derived = |name: &&String| !name.ends_with(".log") && *name != "partition.metadata";
    for name in files(&mut disk.clone()).iter().filter(derived) {
        for damage in [None, Some(&b""[..]), Some(&b"garbage"[..]), Some(&[0; 240][..])] {
            let mut disk = disk.clone();
            match damage {
                Some(content) => disk.plant(&path(name), content),
                None => disk.remove(&path(name)).unwrap(),
            }
            let mut bench = Bench::new(disk, tiny());
            assert_eq!(bench.read_all(0), batches(0, 40, 4), "{name} {damage:?}");
            let epochs = &bench.opened.state.epochs;
            assert_eq!((epochs.len(), epochs[0].epoch), (1, 4), "{name} {damage:?}");
            let query = crate::store::TimeQuery::AtOrAfter(301);
            let command = crate::store::Command::OffsetForTime { log: super::LOG, query, upto: 40 };
            let found = bench.run(command).unwrap();
            let crate::store::Done::TimedOffset(Some(found)) = found else { panic!("{found:?}") };
            assert_eq!(found.offset, 31, "{name} {damage:?}");
        }
    }
}

#[test]
fn a_clean_stop_that_is_not_true_is_not_believed() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    bench.stop(40, None);
    let mut disk = bench.store.into_disk();
    let name = segments(&mut disk).pop().unwrap();
    let content = disk.content(&path(&name)).unwrap().to_vec();
    disk.plant(&path(&name), &content[..content.len() - 1]);
    let mut bench = Bench::new(disk, tiny());
    assert_eq!(bench.opened.state.log_end, 38);
    assert_eq!(bench.read_all(0), batches(0, 38, 0));
}

/// A batch of one record of producer 5.
fn produced(offset: i64, sequence: i32) -> Bytes {
    let batch = BatchBuilder::new().place(offset, 0).producer(5, 0, sequence);
    batch.record(super::NOW_MS, None, Some(b"some value"), &[]).build()
}

#[test]
fn rule_45_producer_state_is_rebuilt_from_the_log() {
    let mut bench = Bench::tiny();
    for at in 0..20 {
        bench.append(produced(at, at as i32)).unwrap();
    }
    let wanted = bench.truncate(20).producers;
    assert_eq!(wanted[0].batches.len(), 5);
    let mut bench = bench.restart(tiny());
    let rebuilt = &bench.opened.state.producers;
    assert_eq!(rebuilt[0].batches.last(), wanted[0].batches.last());
    let cut = bench.truncate(12).producers;
    assert_eq!(cut[0].batches.last().unwrap().last_offset, 11);
    bench.stop(0, None);
    let bench = bench.restart(tiny());
    let snapshot = &bench.opened.state.producers;
    assert_eq!(snapshot[0].batches, cut[0].batches[cut[0].batches.len() - 1..]);
}

#[test]
fn rule_44_producers_that_were_silent_too_long_are_forgotten() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    bench.append(produced(0, 0)).unwrap();
    bench.stop(0, None);
    let disk = bench.store.into_disk();
    for (expiration_ms, producers) in [(10, 1), (-1, 0)] {
        let store = crate::store::Store::new(disk.clone());
        let mut store = store.with_producer_expiration_ms(expiration_ms);
        store.execute(super::NOW_MS, crate::store::Command::Find).unwrap();
        let opened = super::open(&mut store, LogConfig::default()).unwrap();
        assert_eq!(opened.state.producers.len(), producers);
    }
}
