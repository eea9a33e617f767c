//! What is left after the power was lost, by flush settings.

use super::{Bench, DIR, LOG, NOW_MS, batch, batches, tiny};
use crate::disk::MemDisk;
use crate::store::{Command, Completion, Done, LogConfig, Store};

/// Loses power, keeping nothing that was not synced.
fn lose_power(bench: Bench) -> MemDisk {
    let mut disk = bench.store.into_disk();
    disk.lose_power(|_| 0);
    disk
}

fn end_after_power_loss(bench: Bench, config: LogConfig) -> i64 {
    Bench::new(lose_power(bench), config).opened.state.log_end
}

#[test]
fn without_a_sync_all_may_be_gone() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    bench.append(batches(0, 10, 0)).unwrap();
    assert_eq!(end_after_power_loss(bench, LogConfig::default()), 0);
}

#[test]
fn a_synced_append_survives_with_its_directory() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    let append = Command::Append { log: LOG, batches: batches(0, 10, 3), sync: true };
    bench.run(append).unwrap();
    bench.append(batches(10, 20, 3)).unwrap();
    let mut bench = Bench::new(lose_power(bench), LogConfig::default());
    assert_eq!(bench.opened.state.log_end, 10);
    assert_eq!(bench.opened.state.epochs[0].epoch, 3);
    assert_eq!(bench.read_all(0), batches(0, 10, 3));
}

#[test]
fn flush_messages_syncs_in_time() {
    let config = LogConfig { flush_messages: 4, ..tiny() };
    let mut bench = Bench::new(MemDisk::new(), config);
    for at in (0..10).step_by(2) {
        bench.append(batch(at, 0, 2, 0)).unwrap();
    }
    assert_eq!(end_after_power_loss(bench, config), 8);
}

#[test]
fn flush_ms_syncs_when_it_is_due() {
    let config = LogConfig { flush_ms: 50, ..LogConfig::default() };
    let mut bench = Bench::new(MemDisk::new(), config);
    assert_eq!(bench.store.next_sync_ms(), None);
    bench.append(batches(0, 10, 0)).unwrap();
    assert_eq!(bench.store.next_sync_ms(), Some(NOW_MS + 50));
    bench.store.sync_due(NOW_MS + 49).unwrap();
    assert_eq!(bench.store.next_sync_ms(), Some(NOW_MS + 50));
    bench.store.sync_due(NOW_MS + 50).unwrap();
    assert_eq!(bench.store.next_sync_ms(), None);
    assert_eq!(end_after_power_loss(bench, config), 10);
}

#[test]
fn closed_segments_survive_with_their_names() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    let mut bench = Bench::new(lose_power(bench), tiny());
    let log_end = bench.opened.state.log_end;
    assert!((20..40).contains(&log_end), "{log_end}");
    assert_eq!(bench.read_all(0), batches(0, log_end, 0));
}

#[test]
fn a_cut_that_power_loss_undoes_brings_no_mixture() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 60, 0)).unwrap();
    bench.run(Command::Sync { log: LOG }).unwrap();
    bench.run(Command::Checkpoint { high_watermarks: vec![] }).unwrap();
    bench.truncate(10);
    bench.append(batches(10, 20, 1)).unwrap();
    let mut bench = Bench::new(lose_power(bench), tiny());
    let log_end = bench.opened.state.log_end;
    let all = bench.read_all(0);
    let new = [batches(0, 10, 0), batches(10, log_end.max(10), 1)].concat();
    assert!(all == batches(0, log_end, 0) || all == new, "a mixture up to {log_end}");
}

#[test]
fn what_recovery_kept_is_durable() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    bench.append(batches(0, 10, 0)).unwrap();
    let bench = bench.restart(LogConfig::default());
    assert_eq!(end_after_power_loss(bench, LogConfig::default()), 10);
}

#[test]
fn after_a_clean_stop_power_loss_takes_nothing() {
    let mut bench = Bench::tiny();
    bench.append(batches(0, 40, 0)).unwrap();
    bench.stop(40, None);
    let mut bench = Bench::new(lose_power(bench), tiny());
    assert_eq!(bench.opened.cut_bytes, 0);
    assert_eq!((bench.opened.high_watermark, bench.opened.state.log_end), (40, 40));
    assert_eq!(bench.read_all(0), batches(0, 40, 0));
}

#[test]
fn one_sync_serves_all_that_wait_and_order_is_kept() {
    let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
    let mut out: Vec<(u64, Completion)> = Vec::new();
    let append = |store: &mut Store<MemDisk>, ticket, at, sync, out: &mut _| {
        let batches = batch(at, 0, 1, 0);
        store.submit(NOW_MS, ticket, Command::Append { log: LOG, batches, sync }, out);
    };
    append(&mut bench.store, 1, 0, true, &mut out);
    append(&mut bench.store, 2, 1, false, &mut out);
    append(&mut bench.store, 3, 2, true, &mut out);
    assert_eq!(out, []);
    bench.store.settle(&mut out);
    let done = |ticket, log_end| (ticket, Ok(Done::Appended { log_end, segment_start: 0 }));
    assert_eq!(out, [done(1, 1), done(2, 2), done(3, 3)]);
    append(&mut bench.store, 4, 3, false, &mut out);
    assert_eq!(out.len(), 4);
    assert_eq!(end_after_power_loss(bench, LogConfig::default()), 3);
}

#[test]
fn a_torn_tail_is_cut_at_every_length() {
    let first = batch(0, 0, 2, 0);
    let second = batch(2, 0, 2, 0);
    for kept in 0..=second.len() {
        let mut bench = Bench::new(MemDisk::new(), LogConfig::default());
        bench.append(first.clone()).unwrap();
        bench.run(Command::Sync { log: LOG }).unwrap();
        bench.append(second.clone()).unwrap();
        let mut disk = bench.store.into_disk();
        disk.lose_power(|unsynced| unsynced.min(kept));
        let bench = Bench::new(disk, LogConfig::default());
        let whole = kept == second.len();
        assert_eq!(bench.opened.state.log_end, if whole { 4 } else { 2 }, "{kept}");
        assert_eq!(bench.opened.cut_bytes, if whole { 0 } else { kept as u64 }, "{kept}");
        let log = format!("{DIR}/00000000000000000000.log");
        let left = bench.store.into_disk().content(&log).unwrap().len();
        assert_eq!(left, first.len() + if whole { second.len() } else { 0 });
    }
}
