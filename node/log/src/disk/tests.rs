//! What a power loss leaves on the disk in memory.

use super::{Disk, DiskErrorKind, MemDisk, OpenMode};

fn synced(disk: &mut MemDisk, path: &str, bytes: &[u8]) {
    let file = disk.open(path, OpenMode::Create).unwrap();
    disk.append(&file, bytes).unwrap();
    disk.sync(&file).unwrap();
    disk.sync_dir("").unwrap();
}

#[test]
fn unsynced_bytes_are_gone_but_for_those_kept() {
    for (kept, left) in [(0, &b"abc"[..]), (2, b"abcde"), (9, b"abcdef")] {
        let mut disk = MemDisk::new();
        synced(&mut disk, "f", b"abc");
        let file = disk.open("f", OpenMode::Existing).unwrap();
        disk.append(&file, b"def").unwrap();
        disk.lose_power(|_| kept);
        assert_eq!(disk.content("f"), Some(left));
    }
}

#[test]
fn an_unsynced_truncation_is_undone() {
    let mut disk = MemDisk::new();
    synced(&mut disk, "f", b"abcdef");
    let file = disk.open("f", OpenMode::Existing).unwrap();
    disk.truncate(&file, 4).unwrap();
    disk.truncate(&file, 2).unwrap();
    disk.append(&file, b"xy").unwrap();
    let mut lost = disk.clone();
    lost.lose_power(|_| 0);
    assert_eq!(lost.content("f"), Some(&b"abcdef"[..]));
    disk.sync(&file).unwrap();
    disk.lose_power(|_| 0);
    assert_eq!(disk.content("f"), Some(&b"abxy"[..]));
}

#[test]
fn a_name_is_durable_only_with_its_directory() {
    let mut disk = MemDisk::new();
    disk.create_dir("d").unwrap();
    let file = disk.open("d/f", OpenMode::Create).unwrap();
    disk.append(&file, b"abc").unwrap();
    disk.sync(&file).unwrap();
    for (dir, present) in [("d", false), ("", true)] {
        disk.sync_dir(dir).unwrap();
        let mut lost = disk.clone();
        lost.lose_power(|_| 0);
        assert_eq!(lost.content("d/f").is_some(), present, "{dir:?} synced");
    }
}

#[test]
fn an_unsynced_rename_is_undone() {
    let mut disk = MemDisk::new();
    synced(&mut disk, "old", b"1");
    synced(&mut disk, "new", b"2");
    disk.rename("new", "old").unwrap();
    assert_eq!((disk.content("old"), disk.content("new")), (Some(&b"2"[..]), None));
    disk.lose_power(|_| 0);
    assert_eq!((disk.content("old"), disk.content("new")), (Some(&b"1"[..]), Some(&b"2"[..])));
}

#[test]
fn missing_files_are_told_apart() {
    let mut disk = MemDisk::new();
    let error = disk.open("d/f", OpenMode::Create).unwrap_err();
    assert_eq!(error.kind, DiskErrorKind::NotFound);
    assert!(disk.remove("f").is_ok() && disk.rename("f", "g").is_err());
}
