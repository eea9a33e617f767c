//! How long producers are remembered (rule 44).

use super::{LOG, NOW_MS, open};
use crate::batch::BatchBuilder;
use crate::disk::MemDisk;
use crate::store::{Command, Done, LogConfig, Store};

#[test]
fn rule_44_a_cut_does_not_bring_expired_producers_back() {
    let mut store = Store::new(MemDisk::new()).with_producer_expiration_ms(100);
    store.execute(NOW_MS, Command::Find).unwrap();
    open(&mut store, LogConfig::default()).unwrap();
    for (offset, producer) in [(0, 5), (1, 6), (2, 7)] {
        let mut builder = BatchBuilder::new().place(offset, 0).producer(producer, 0, 0);
        builder.push(NOW_MS, None, Some(b"x"), &[]);
        let command = Command::Append { log: LOG, batches: builder.build(), sync: false };
        store.execute(NOW_MS, command).unwrap();
    }
    let producers = |store: &mut Store<MemDisk>, now_ms, to| match store
        .execute(now_ms, Command::Truncate { log: LOG, to })
    {
        Ok(Done::Truncated(state)) => state.producers.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(producers(&mut store, NOW_MS + 100, 2), 2);
    assert_eq!(producers(&mut store, NOW_MS + 101, 1), 0);
}

#[test]
fn rule_44_silent_producers_are_looked_for_at_checkpoints() {
    let store = Store::new(MemDisk::new()).with_producer_expiration_ms(100);
    let mut store = store.with_producer_check_ms(1_000);
    store.execute(NOW_MS, Command::Find).unwrap();
    open(&mut store, LogConfig::default()).unwrap();
    let mut remembered = |now_ms, producer| {
        let mut builder = BatchBuilder::new().place(producer, 0).producer(producer, 0, 0);
        builder.push(now_ms, None, Some(b"x"), &[]);
        let command = Command::Append { log: LOG, batches: builder.build(), sync: false };
        store.execute(now_ms, command).unwrap();
        store.execute(now_ms, Command::Checkpoint { high_watermarks: Vec::new() }).unwrap();
        store.logs[&LOG].state().producers.len()
    };
    assert_eq!((remembered(NOW_MS, 0), remembered(NOW_MS + 999, 1)), (1, 2));
    assert_eq!(remembered(NOW_MS + 1_000, 2), 2, "the first is gone");
    assert_eq!(remembered(NOW_MS + 2_000, 3), 1);
}
