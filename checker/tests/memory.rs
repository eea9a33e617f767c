//! `highwater-check --memory`: part by part in little memory, the same verdict.

mod recorded;

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use highwater_history::{
    convert::convert,
    reader::{HistoryFile, HistoryFormat},
};
use recorded::record;
use tempfile::TempDir;

const KEYS: i64 = 12;
const SENDS: i64 = 3_000;

/// What is printed on judging a file, or standard input, with a folder for what is kept meanwhile.
fn judged(history: &Path, temporary: &Path, is_stream: bool, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater-check"));
    command.args(options).env("TMPDIR", temporary);
    if is_stream {
        command.arg("-").stdin(Stdio::from(fs::File::open(history).expect("it is there")));
    } else {
        command.arg(history);
    }
    let output = command.output().expect("it runs");
    let left = fs::read_dir(temporary).map(Iterator::count);
    assert_eq!(left.unwrap_or(0), 0, "nothing is left behind");
    output
}

#[test]
fn little_memory_gives_the_same_verdict() {
    let folder = TempDir::new().expect("a temporary folder");
    let temporary = TempDir::new().expect("a temporary folder");
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, SENDS);
    let [edn, binary] = ["h.edn", "h.hwh"].map(|name| folder.path().join(name));
    for to in [&edn, &binary] {
        let format = HistoryFormat::named(to).expect("the suffix is known");
        convert(&HistoryFile::from(&lines), to, format).expect("it is converted");
    }
    let unfit = folder.path().join("unfit.jsonl");
    let text = fs::read_to_string(&lines).expect("it is there");
    let again = text.lines().nth(4_000).expect("a line").to_owned() + "\n";
    fs::write(&unfit, text.clone() + &again).expect("it can be written");
    let cut = folder.path().join("cut.jsonl");
    fs::write(&cut, &text[..text.len() - 9]).expect("it can be written");
    for (history, status) in [(&lines, 1), (&edn, 1), (&binary, 1), (&unfit, 2), (&cut, 1)] {
        for told in [&["--json"] as &[&str], &[]] {
            let whole = judged(history, temporary.path(), false, told);
            assert_eq!(whole.status.code(), Some(status), "{}", history.display());
            for memory in ["1GiB", "400KiB", "80KiB"] {
                let little = [told, &["--memory", memory]].concat();
                let parts = judged(history, temporary.path(), false, &little);
                assert!(parts.stdout == whole.stdout, "{} {memory}", history.display());
                assert_eq!((parts.status, parts.stderr), (whole.status, whole.stderr.clone()));
            }
        }
    }
    let whole = judged(&lines, temporary.path(), true, &["--json"]);
    let parts = judged(&lines, temporary.path(), true, &["--json", "--memory", "80KiB"]);
    assert!(parts.stdout == whole.stdout, "a stream is kept too");
}

#[test]
fn too_little_memory_and_no_room_are_told() {
    let folder = TempDir::new().expect("a temporary folder");
    let history = folder.path().join("h.jsonl");
    record(&history, KEYS, SENDS);
    let said = |temporary: &Path, memory| {
        let refused = judged(&history, temporary, false, &["--memory", memory]);
        assert_eq!(refused.status.code(), Some(64));
        String::from_utf8(refused.stderr).expect("text")
    };
    let temporary = TempDir::new().expect("a temporary folder");
    let why = said(temporary.path(), "2KiB");
    assert!(why.contains("one key by itself needs about 1 MiB"), "{why}");
    let why = said(temporary.path(), "2 bytes");
    assert!(why.contains("a size is a number with KiB, MiB or GiB"), "{why}");
    let why = said(Path::new("/nowhere/at/all"), "1GiB");
    assert!(why.contains("TMPDIR says where it goes"), "{why}");
}
