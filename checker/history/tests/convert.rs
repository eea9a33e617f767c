//! Histories converted between files: every suffix, cut ones, and what is left where it fails.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use highwater_history::{
    ahead::read_ahead,
    convert::{ConvertError, Converted, convert},
    reader::{HistoryFormat, HistoryReader},
};
use tempfile::TempDir;

const JSONL: &str = concat!(
    r#"{"index":0,"time":1,"process":1,"type":"invoke","f":"send","value":[["send","t-4",7]]}"#,
    "\n",
    r#"{"index":1,"time":2,"process":1,"type":"ok","f":"send","value":[["send","t-4",[0,7]]],"#,
    r#""node":2,"attempts":"hidden"}"#,
    "\n",
);

const EDN: &str = concat!(
    "{:index 0, :time 1, :type :invoke, :process 1, :f :send, :value [[:send 4 7]]}\n",
    "{:index 1, :time 2, :type :ok, :process 1, :f :send, :value [[:send 4 [0 7]]], ",
    ":highwater/node 2, :highwater/attempts \"hidden\"}\n",
);

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn file_with(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let file = folder.path().join(name);
    fs::write(&file, bytes).expect("a temporary file can be written");
    file
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).expect("it is there")
}

fn converted(from: &Path, to: &Path) -> Result<Converted, ConvertError> {
    convert(&from.into(), to, HistoryFormat::named(to).expect("the suffix is known"))
}

#[test]
fn every_suffix_to_every_other() {
    let folder = folder();
    let names = ["a.jsonl", "a.edn", "a.jsonl.gz", "a.edn.zst", "a.jsonl.zst", "a.edn.gz"];
    let mut from = file_with(&folder, "first.jsonl", JSONL);
    for name in names.iter().chain(names.iter().rev()) {
        let to = folder.path().join(name);
        let done = converted(&from, &to).expect("it is converted");
        assert_eq!(done, Converted { events: 2, dropped_line: None }, "{name}");
        from = to;
    }
    assert_eq!(text(&folder.path().join("a.jsonl")), JSONL);
    assert_eq!(text(&folder.path().join("a.edn")), EDN);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 7, "nothing else is left");
}

/// Jepsen's checker sorts keys, which it cannot where some are numbers and some are not.
#[test]
fn keys_of_one_file_are_all_numbers_or_all_strings() {
    let folder = folder();
    let other = JSONL.replace("t-4", "u-4").replace("\"index\":", "\"index\":1");
    let from = file_with(&folder, "mixed.jsonl", JSONL.to_owned() + &other);
    let to = folder.path().join("mixed.edn");
    converted(&from, &to).expect("it is converted");
    let edn = text(&to);
    assert!(edn.contains(r#"[:send "t-4" 7]"#) && edn.contains(r#"[:send "u-4" 7]"#), "{edn}");
    let back = folder.path().join("back.jsonl");
    converted(&to, &back).expect("it is converted");
    assert_eq!(text(&back), text(&from));
}

/// What was cut and is not whole must not look whole.
#[test]
fn a_history_that_was_cut_stays_cut() {
    let folder = folder();
    let edn = file_with(&folder, "whole.edn", EDN);
    let packed = folder.path().join("whole.edn.zst");
    converted(&edn, &packed).expect("it is converted");
    let packed = fs::read(packed).expect("it is there");
    let list = format!("[{EDN}");
    let half = &EDN[..EDN.len() - 9];
    for (name, bytes, events) in [
        ("cut.edn", half.as_bytes(), 1),
        ("list.edn", list.as_bytes(), 2),
        ("cut.jsonl", &JSONL.as_bytes()[..JSONL.len() - 9], 1),
        ("cut.edn.zst", &packed[..packed.len() - 2], 2),
    ] {
        let mut from = file_with(&folder, name, bytes);
        for name in ["next.edn", "next.jsonl.zst", "next.hwh", "last.edn.gz"] {
            let to = folder.path().join(name);
            let done = converted(&from, &to).expect("it is converted");
            assert!(done.events == events && done.dropped_line.is_some(), "{name}: {done:?}");
            from = to;
        }
    }
    let reader = HistoryReader::open(&file_with(&folder, "cut.edn", half)).expect("it opens");
    assert_eq!(reader.count().expect("it is counted"), 1);
}

#[test]
fn what_fails_leaves_the_target_as_it_was() {
    let folder = folder();
    let to = file_with(&folder, "old.edn", "old");
    let broken = file_with(&folder, "broken.jsonl", JSONL.to_owned() + "oops\n");
    let error = converted(&broken, &to).expect_err("it is refused");
    assert!(matches!(error, ConvertError::Source(_)), "{error}");
    assert!(error.to_string().contains("broken.jsonl: line 3: "), "{error}");
    let damaged = file_with(&folder, "damaged.edn.gz", EDN);
    let error = converted(&damaged, &to).expect_err("it is refused").to_string();
    assert!(error.contains("damaged.edn.gz: its packing is damaged: "), "{error}");
    let nowhere = folder.path().join("no/such.edn");
    let error = converted(&broken, &nowhere).expect_err("it is refused");
    assert!(matches!(error, ConvertError::Create { .. }), "{error}");
    assert_eq!(text(&to), "old");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3, "no part is left");
}

#[test]
fn reading_ends_behind_what_is_wrong() {
    let folder = folder();
    for broken in ["{:index 2}", "{:a }", ":x"] {
        let text = format!("{EDN}{broken}\n{EDN}");
        let reader = HistoryReader::open(&file_with(&folder, "h.edn", text)).expect("it opens");
        let read: Vec<bool> = reader.map(|event| event.is_ok()).collect();
        assert_eq!(read, [true, true, false], "{broken}");
    }
    let text = format!("\n; a comment\n{EDN}\n:x");
    let reader =
        HistoryReader::open(&file_with(&folder, "h.edn", text)).expect("the history opens");
    let mut lines = Vec::new();
    let read = read_ahead(reader, |columns| {
        lines.extend(columns.rows().map(|row| row.head.line));
        ControlFlow::<()>::Continue(())
    });
    let why = read.expect_err("it is refused").to_string();
    assert!(why.contains("h.edn: line 6: an operation was expected"), "{why}");
    assert_eq!(lines, [3, 4], "what stands before it is read");
}

/// Those who take lines get those of our own format, whatever the file is, with the lines that
/// events stood on first.
#[test]
fn blocks_of_lines_are_json() {
    let folder = folder();
    let edn = file_with(&folder, "h.edn", format!("; a comment\n{EDN}"));
    let binary = folder.path().join("h.hwh");
    converted(&edn, &binary).expect("it is converted");
    let ours = file_with(&folder, "h.jsonl", JSONL);
    for (file, first) in [(&edn, 2), (&binary, 2), (&ours, 1)] {
        let mut reader = HistoryReader::open(file).expect("the history opens");
        let mut lines = Vec::new();
        while let Some(block) = reader.next_lines(1).expect("it is read") {
            lines.extend(block.lines().map(|(line, text)| (line, text.to_owned())));
        }
        let expected = (first..).zip(JSONL.split_inclusive('\n').map(str::to_owned));
        assert_eq!(lines, expected.collect::<Vec<_>>());
    }
}
