//! A disk that fails: the error is typed, and nothing is done after it.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;

use super::{LOG, NOW_MS, batch, open, tiny};
use crate::disk::{Disk, DiskError, DiskErrorKind, Entry, MemDisk, MemFile, OpenMode, Volume};
use crate::store::LogConfig;
use crate::store::{Command, Completion, Store, StoreError};

/// A disk whose operations fail once its budget is used up.
struct Failing {
    disk: MemDisk,
    budget: Rc<Cell<usize>>,
}

impl Failing {
    fn spend(&self, action: &'static str, path: &str) -> Result<(), DiskError> {
        match self.budget.get() {
            0 => Err(no_space(action, path)),
            left => {
                self.budget.set(left - 1);
                Ok(())
            }
        }
    }
}

fn no_space(action: &'static str, path: &str) -> DiskError {
    let reason = "no space left on device".to_owned();
    DiskError { kind: DiskErrorKind::NoSpace, action, path: path.to_owned(), reason }
}

impl Disk for Failing {
    type File = MemFile;

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<MemFile, DiskError> {
        self.spend("open", path)?;
        self.disk.open(path, mode)
    }

    fn append(&mut self, file: &MemFile, bytes: &[u8]) -> Result<(), DiskError> {
        if let Err(error) = self.spend("append to", "file") {
            self.disk.append(file, &bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.disk.append(file, bytes)
    }

    fn read(&mut self, file: &MemFile, at: u64, length: usize) -> Result<Bytes, DiskError> {
        self.spend("read", "file")?;
        self.disk.read(file, at, length)
    }

    fn length(&mut self, file: &MemFile) -> Result<u64, DiskError> {
        self.disk.length(file)
    }

    fn truncate(&mut self, file: &MemFile, length: u64) -> Result<(), DiskError> {
        self.spend("truncate", "file")?;
        self.disk.truncate(file, length)
    }

    fn sync(&mut self, file: &MemFile) -> Result<(), DiskError> {
        self.spend("sync", "file")?;
        self.disk.sync(file)
    }

    fn create_dir(&mut self, path: &str) -> Result<(), DiskError> {
        self.spend("create", path)?;
        self.disk.create_dir(path)
    }

    fn sync_dir(&mut self, path: &str) -> Result<(), DiskError> {
        self.spend("sync", path)?;
        self.disk.sync_dir(path)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        self.spend("rename", from)?;
        self.disk.rename(from, to)
    }

    fn remove(&mut self, path: &str) -> Result<(), DiskError> {
        self.spend("remove", path)?;
        self.disk.remove(path)
    }

    fn remove_dir(&mut self, path: &str) -> Result<(), DiskError> {
        self.spend("remove", path)?;
        self.disk.remove_dir(path)
    }

    fn list(&mut self, path: &str) -> Result<Vec<Entry>, DiskError> {
        self.spend("list", path)?;
        self.disk.list(path)
    }

    fn volume(&mut self) -> Option<Volume> {
        None
    }
}

fn append(offset: i64, sync: bool) -> Command {
    Command::Append { log: LOG, batches: batch(offset, 0, 1, 0), sync }
}

fn is_no_space(done: &Completion) -> bool {
    matches!(done, Err(StoreError::Disk(error)) if error.kind == DiskErrorKind::NoSpace)
}

/// A script that touches the disk in many ways; ends at the first error.
fn script(store: &mut Store<Failing>, acknowledged: &mut i64) -> Result<(), StoreError> {
    store.execute(NOW_MS, Command::Find)?;
    open(store, tiny())?;
    for at in 0..12 {
        store.execute(NOW_MS, append(at, true))?;
        *acknowledged = at + 1;
    }
    store.execute(NOW_MS, Command::Truncate { log: LOG, to: 12 })?;
    store.execute(NOW_MS, Command::Checkpoint { high_watermarks: vec![(LOG, 5)] })?;
    Ok(())
}

#[test]
fn wherever_the_disk_fails_what_was_acknowledged_is_recovered() {
    let mut whole_run_passed = false;
    for allowed in 0..200 {
        let budget = Rc::new(Cell::new(allowed));
        let mut store = Store::new(Failing { disk: MemDisk::new(), budget: budget.clone() });
        let mut acknowledged = 0;
        whole_run_passed |= script(&mut store, &mut acknowledged).is_ok();
        let mut disk = store.into_disk();
        disk.disk.lose_power(|_| 0);
        budget.set(usize::MAX);
        let mut store = Store::new(disk);
        store.execute(NOW_MS, Command::Find).unwrap();
        let end = open(&mut store, tiny()).unwrap().state.log_end;
        assert!(end >= acknowledged, "{end} of {acknowledged} after {allowed} operations");
    }
    assert!(whole_run_passed);
}

#[test]
fn after_a_failure_nothing_is_done() {
    let budget = Rc::new(Cell::new(usize::MAX));
    let mut store = Store::new(Failing { disk: MemDisk::new(), budget: budget.clone() });
    open(&mut store, tiny()).unwrap();
    store.execute(NOW_MS, append(0, false)).unwrap();
    budget.set(0);
    assert!(is_no_space(&store.execute(NOW_MS, append(1, false))));
    budget.set(usize::MAX);
    assert!(is_no_space(&store.execute(NOW_MS, append(1, false))));
    assert!(is_no_space(&store.execute(NOW_MS, Command::Sync { log: LOG })));
}

#[test]
fn a_failed_timed_sync_is_told_and_not_tried_again() {
    let budget = Rc::new(Cell::new(usize::MAX));
    let mut store = Store::new(Failing { disk: MemDisk::new(), budget: budget.clone() });
    open(&mut store, LogConfig { flush_ms: 50, ..tiny() }).unwrap();
    store.execute(NOW_MS, append(0, false)).unwrap();
    assert_eq!(store.next_sync_ms(), Some(NOW_MS + 50));
    budget.set(0);
    assert!(store.sync_due(NOW_MS + 50).is_err());
    assert_eq!(store.next_sync_ms(), None);
}

#[test]
fn a_failed_sync_fails_every_append_that_waits_for_it() {
    let budget = Rc::new(Cell::new(usize::MAX));
    let mut store = Store::new(Failing { disk: MemDisk::new(), budget: budget.clone() });
    open(&mut store, tiny()).unwrap();
    let mut out = Vec::new();
    store.submit(NOW_MS, 1, append(0, true), &mut out);
    store.submit(NOW_MS, 2, append(1, true), &mut out);
    budget.set(0);
    store.settle(&mut out);
    assert_eq!(out.iter().map(|(ticket, _)| *ticket).collect::<Vec<_>>(), [1, 2]);
    assert!(out.iter().all(|(_, done)| is_no_space(done)));
}
