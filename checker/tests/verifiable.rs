//! Logs of Kafka's VerifiableProducer and VerifiableConsumer, recorded with Kafka 4.3.1 whose one
//! broker was killed and started again: converted and judged.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use highwater_history::Verdict;
use serde_json::Value;
use tempfile::TempDir;

const LOGS: [&str; 3] = ["producer-1.log", "producer-2.log", "consumer-1.log"];

fn recorded(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/verifiable");
    let file = File::open(folder.join(format!("{name}.zst"))).expect("the log is there");
    String::from_utf8(zstd::decode_all(file).expect("the log is whole")).expect("the log is text")
}

/// The recorded logs in a folder, some of them changed.
fn folder(change: impl Fn(&str, String) -> String) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for name in LOGS {
        let text = change(name, recorded(name));
        fs::write(folder.path().join(name), text).expect("a temporary file can be written");
    }
    folder
}

fn convert(folder: &Path, to: &str, logs: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_highwater-convert"))
        .current_dir(folder)
        .arg("--verifiable")
        .args(logs)
        .arg(to)
        .output()
        .expect("the program runs")
}

fn judged(history: &Path) -> Verdict {
    let output = Command::new(env!("CARGO_BIN_EXE_highwater-check"))
        .arg("--json")
        .arg(history)
        .output()
        .expect("the program runs");
    serde_json::from_slice(&output.stdout).expect("a verdict")
}

/// Status, reason and anomalies of logs, some of them changed.
fn verdict(change: impl Fn(&str, String) -> String) -> (u8, String, Value) {
    let folder = folder(change);
    let output = convert(folder.path(), "history.jsonl", &LOGS);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let verdict = judged(&folder.path().join("history.jsonl"));
    for note in said.lines().filter_map(|line| line.strip_prefix("  note: ")) {
        let note = format!("history: {note}");
        assert!(verdict.notes.contains(&note), "{note:?} is not in {:?}", verdict.notes);
    }
    let anomalies = serde_json::to_value(&verdict.anomalies).expect("JSON");
    (verdict.exit, verdict.reason, anomalies)
}

/// A text without the lines that contain all of these words.
fn without(text: &str, words: &[&str]) -> String {
    let is_kept = |line: &&str| !words.iter().all(|word| line.contains(word));
    text.split_inclusive('\n').filter(is_kept).collect()
}

/// A consumer's log without one record, as if the broker had not given it: the line that counts it
/// counts one less.
fn without_record(text: &str, offset: u64) -> String {
    let of_record = format!("\"partition\":0,\"offset\":{offset}}}");
    let mut is_counted = true;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if line.contains("\"record_data\"") && line.contains(&of_record) {
            is_counted = false;
            continue;
        }
        match !is_counted && line.contains("\"records_consumed\"") {
            true => {
                is_counted = true;
                let mut counted: Value = serde_json::from_str(line).expect("JSON");
                let partitions = counted["partitions"].as_array_mut().expect("a list");
                let of_key = partitions.iter_mut().find(|of_key| of_key["partition"] == 0);
                let of_key = of_key.expect("the partition");
                of_key["count"] = (of_key["count"].as_u64().expect("a count") - 1).into();
                kept += &format!("{counted}\n");
            }
            false => kept += line,
        }
    }
    kept
}

#[test]
fn a_recorded_run_is_valid() {
    let (exit, reason, anomalies) = verdict(|_, text| text);
    let wanted = "every promise was kept: 302 records acknowledged, 302 read, 568 operations";
    assert_eq!((exit, reason.as_str(), anomalies), (0, wanted, serde_json::json!({})));
}

#[test]
fn a_record_that_the_consumer_was_not_given_is_lost() {
    let (exit, _, anomalies) = verdict(|name, text| match name {
        "consumer-1.log" => without_record(&text, 40),
        _ => text,
    });
    let wanted = serde_json::json!({"lost-write": 1, "poll-skip": 1, "unseen": 1});
    assert_eq!((exit, anomalies), (1, wanted));
}

/// A producer that says how many it sent, and tells of fewer, has a log with a hole.
#[test]
fn a_send_that_the_log_lacks_is_unknown_or_a_phantom() {
    let lines = ["\"producer_send_success\"", "\"value\":\"1.7\""];
    let (exit, reason, _) = verdict(|_, text| without(&text, &lines));
    assert_eq!(exit, 0, "{reason}");
    let (exit, _, anomalies) =
        verdict(|_, text| without(&without(&text, &lines), &["\"tool_data\""]));
    assert_eq!((exit, anomalies), (1, serde_json::json!({"phantom-read": 1})));
}

#[test]
fn a_consumer_that_stopped_early_leaves_the_verdict_unknown() {
    let half = |text: String| text[..text.len() / 2].to_owned();
    let (exit, reason, anomalies) =
        verdict(|name, text| if name == "consumer-1.log" { half(text) } else { text });
    assert_eq!((exit, anomalies), (2, serde_json::json!({})));
    assert!(reason.contains("a read may have stood in what is missing"), "{reason}");
}

#[test]
fn edn_and_packed_logs_are_no_matter() {
    let folder = folder(|_, text| text);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/verifiable");
    let packed: Vec<PathBuf> = LOGS.iter().map(|name| source.join(format!("{name}.zst"))).collect();
    let packed: Vec<&str> = packed.iter().map(|file| file.to_str().expect("a name")).collect();
    for (to, logs) in [("h.jsonl", &LOGS[..]), ("h.edn", &LOGS[..]), ("h.jsonl.gz", &packed)] {
        let output = convert(folder.path(), to, logs);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut verdict = judged(&folder.path().join(to));
        assert_eq!((verdict.exit, verdict.counts.read), (0, 302), "{to}");
        verdict.notes.clear();
        let mut first = judged(&folder.path().join("h.jsonl"));
        first.notes.clear();
        assert_eq!(verdict, first);
    }
}

#[test]
fn bad_input_is_refused_and_writes_nothing() {
    let folder = folder(|_, text| text);
    let path = folder.path();
    for (to, logs, words) in [
        ("h.jsonl", ["producer-1.log", "producer-1.log"], "1.0 is sent to words a second time"),
        ("h.jsonl", ["producer-1.log", "nowhere.log"], "nowhere.log: "),
        ("h.txt", ["producer-1.log", "consumer-1.log"], "a history ends in .jsonl or .edn"),
    ] {
        let output = convert(path, to, &logs);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains(words) && said.trim_end().lines().count() == 1, "{said}");
    }
    let several = Command::new(env!("CARGO_BIN_EXE_highwater-convert"))
        .args(["a.jsonl", "b.jsonl", "c.jsonl"])
        .output()
        .expect("the program runs");
    assert_eq!(several.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&several.stderr).contains("only logs (--verifiable)"));
    let left = fs::read_dir(path).expect("it can be listed").count();
    assert_eq!(left, LOGS.len(), "nothing was written");
}
