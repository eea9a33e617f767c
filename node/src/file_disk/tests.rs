//! The disk in the file system behaves as the one in memory, and holds a store.

use highwater_broker::log::batch::BatchBuilder;
use highwater_broker::log::disk::{Disk, DiskErrorKind, MemDisk, OpenMode};
use highwater_broker::log::{Command, Done, LogConfig, LogId, Store};

use super::FileDisk;

/// What every disk must do; gives what it did, so that two can be compared.
fn exercise<D: Disk>(disk: &mut D) -> Vec<String> {
    let mut seen = Vec::new();
    disk.create_dir("d").unwrap();
    disk.create_dir("d").unwrap();
    let missing = disk.open("d/f", OpenMode::Existing).map(|_| ()).unwrap_err();
    seen.push(format!("{:?} {}", missing.kind, missing.action));
    let file = disk.open("d/f", OpenMode::Create).unwrap();
    disk.append(&file, b"hello ").unwrap();
    disk.append(&file, b"world").unwrap();
    seen.push(format!("{:?}", disk.read(&file, 3, 100).unwrap()));
    seen.push(format!("{:?}", disk.read(&file, 50, 1).unwrap()));
    disk.truncate(&file, 5).unwrap();
    disk.append(&file, b"!").unwrap();
    disk.sync(&file).unwrap();
    disk.rename("d/f", "d/g").unwrap();
    disk.sync_dir("d").unwrap();
    seen.push(format!("{} {:?}", disk.length(&file).unwrap(), disk.list("d").unwrap()));
    disk.open("d/g", OpenMode::Empty).unwrap();
    seen.push(format!("{}", disk.length(&file).unwrap()));
    seen.push(format!("{:?}", disk.rename("d/f", "x").unwrap_err().kind));
    disk.remove("d/g").unwrap();
    disk.remove("d/g").unwrap();
    disk.remove_dir("d").unwrap();
    disk.remove_dir("d").unwrap();
    disk.sync_dir("").unwrap();
    seen.push(format!("{:?}", disk.list("").unwrap()));
    seen
}

#[test]
fn both_disks_do_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let files = exercise(&mut FileDisk::new(folder.path()));
    assert_eq!(files, exercise(&mut MemDisk::new()));
    assert!(files[0].starts_with(&format!("{:?}", DiskErrorKind::NotFound)));
}

#[test]
fn a_full_device_is_told_apart() {
    let mut disk = FileDisk::new(std::path::Path::new("/dev"));
    let file = disk.open("full", OpenMode::Existing).unwrap();
    assert_eq!(disk.append(&file, b"x").unwrap_err().kind, DiskErrorKind::NoSpace);
}

#[test]
fn a_store_comes_back_from_its_files() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3i64 {
        let mut store = Store::new(FileDisk::new(folder.path()));
        store.execute(0, Command::Find).unwrap();
        let (log, dir, config) = (LogId(1), "t-0".to_owned(), LogConfig::default());
        let open = Command::Open { log, dir, topic_id: Some(1), config };
        let Done::Opened(opened) = store.execute(0, open).unwrap() else { panic!("not opened") };
        assert_eq!(opened.state.log_end, round);
        let batches = BatchBuilder::new().place(round, 0).record(5, None, None, &[]).build();
        store.execute(0, Command::Append { log, batches, sync: round == 0 }).unwrap();
    }
    let mut disk = FileDisk::new(folder.path());
    assert!(disk.volume().unwrap().usable > 0);
}
