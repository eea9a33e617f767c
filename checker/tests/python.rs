//! The lines of docs/python.md are run as they stand there, and what they write is judged.

use std::{fs, path::Path, process::Command};

use highwater_history::Verdict;
use tempfile::TempDir;

/// The page's Python.
fn block() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/python.md");
    let page = fs::read_to_string(page).expect("docs/python.md is there");
    let (_, rest) = page.split_once("```python\n").expect("the page has a block");
    let (block, _) = rest.split_once("```").expect("the block ends");
    block.to_owned()
}

/// The verdict of what the lines write, with arguments behind the history's name.
fn judged(lines: &str, args: &[&str]) -> Verdict {
    let folder = TempDir::new().expect("a folder");
    let [client, history] = ["client.py", "history.jsonl"].map(|name| folder.path().join(name));
    fs::write(&client, lines).expect("a temporary file can be written");
    let python = Command::new("python3").arg(&client).arg(&history).args(args).output();
    let python = python.expect("python3 is there: .ci/setup python brings it");
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let output = Command::new(env!("CARGO_BIN_EXE_highwater-check"))
        .arg("--json")
        .arg(&history)
        .output()
        .expect("the program runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a verdict")
}

#[test]
fn a_history_of_these_lines_is_valid() {
    let verdict = judged(&block(), &[]);
    assert_eq!(verdict.exit, 0, "{}", verdict.reason);
    assert_eq!((verdict.counts.acknowledged, verdict.counts.read), (100, 100));
}

#[test]
fn a_record_that_is_lost_is_found() {
    let verdict = judged(&block(), &["42"]);
    let anomalies: Vec<_> = verdict.anomalies.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(anomalies, [("lost-write", 1), ("poll-skip", 1), ("unseen", 1)]);
    assert_eq!(verdict.exit, 1);
}

/// Unknown is not failed: the record is there all the same, and nothing is wrong with that.
#[test]
fn a_timeout_is_unknown() {
    let times_out = "    if value == 42: raise TimeoutError\n    return len(log) - 1\n";
    let lines = block().replacen("    return len(log) - 1\n", times_out, 1);
    let verdict = judged(&lines, &[]);
    let counts = verdict.counts;
    assert_eq!((verdict.exit, counts.info, counts.acknowledged, counts.read), (0, 1, 99, 100));
}

#[test]
fn the_lines_are_about_thirty() {
    let lines = block().lines().count();
    assert!((25..=35).contains(&lines), "{lines} lines");
}
