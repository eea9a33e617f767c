//! Files of lines that were never completed, and folders of dumps with such files.

use std::{fs, path::Path};

use highwater_history::{
    dump_folder::DumpFolder,
    dumps::{DumpBatch, DumpHeader, Moment, SameAs, ValueRun},
    lines::{LineWriter, Lines, Plain},
    samples::Sample,
};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn header(same_as: Option<&str>) -> DumpHeader {
    DumpHeader {
        moment: Moment::Final,
        at: 9,
        node: 1,
        key: "t-0".into(),
        topic: "t".to_owned(),
        partition: 0,
        from: 0,
        log_start: Some(0),
        hw: Some(1),
        epochs: vec![(0, 0)],
        same_as: same_as.map(|file| SameAs { file: file.into(), to: 1 }),
    }
}

fn batch(base_offset: i64) -> DumpBatch {
    DumpBatch {
        base_offset,
        last_offset: base_offset,
        epoch: 0,
        producer_id: -1,
        producer_epoch: -1,
        sequence: -1,
        control: false,
        crc: 1,
        damage: None,
        values: vec![ValueRun::One(7)].into(),
        offset_deltas: None,
    }
}

fn dump(file: &Path, same_as: Option<&str>, offsets: &[i64]) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder can be made");
    let mut writer = LineWriter::create(file, &header(same_as)).expect("a dump is created");
    offsets.iter().for_each(|at| writer.write(&batch(*at)).expect("a batch is written"));
    writer.finish().expect("the dump is completed");
}

#[test]
fn a_dump_has_its_name_only_once_it_is_complete() {
    let folder = folder();
    let file = folder.path().join("1.jsonl.zst");
    let mut writer = LineWriter::create(&file, &header(None)).expect("a dump is created");
    writer.write(&batch(0)).expect("a batch is written");
    writer.flush().expect("it is flushed");
    assert!(!file.exists());
    let unfinished = DumpFolder::read(folder.path()).expect("the folder is read");
    assert_eq!((unfinished.dumps.len(), unfinished.incomplete.len()), (0, 1));
    writer.finish().expect("the dump is completed");
    let finished = DumpFolder::read(folder.path()).expect("the folder is read");
    assert_eq!((finished.dumps.len(), finished.incomplete.len()), (1, 0));
}

#[test]
fn samples_are_read_while_they_grow() {
    let folder = folder();
    let file = folder.path().join("samples.jsonl");
    let mut writer = LineWriter::<Sample>::create(&file, &Plain {}).expect("samples are created");
    writer.flush().expect("they are flushed");
    assert!(Lines::<Sample>::read(&file).expect("they are read").lines.is_empty());
}

#[test]
fn a_dump_cut_anywhere_is_left_out_with_those_that_share_its_batches() {
    let folder = folder();
    for name in ["1.jsonl", "1.jsonl.zst", "1.jsonl.gz"] {
        let file = folder.path().join("before").join(name);
        dump(&file, None, &[0, 1, 2]);
        let whole = fs::read(&file).expect("it is there");
        dump(&folder.path().join("2.jsonl"), Some(&format!("before/{name}")), &[1]);
        let read = DumpFolder::read(folder.path()).expect("the folder is read");
        assert_eq!(read.dumps[0].1.lines.len(), 2, "{name}: its own batch, and the shared one");
        for cut in 0..whole.len() {
            fs::write(&file, &whole[..cut]).expect("it can be written");
            let read = DumpFolder::read(folder.path())
                .unwrap_or_else(|why| panic!("{name} cut at {cut}: {why}"));
            // Without packing nobody can tell that whole lines are missing.
            if !name.ends_with("jsonl") {
                assert_eq!((read.dumps.len(), read.incomplete.len()), (0, 2), "{name} at {cut}");
            }
        }
        fs::remove_file(&file).expect("it is there");
    }
}
