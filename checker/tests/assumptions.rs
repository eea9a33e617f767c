//! What judging assumes is checked first: what does not hold is refused, or leaves less decided,
//! with its line and its reason.

use std::{
    fs,
    path::{Path, PathBuf},
};

use highwater_checker::{Evidence, Options, Verdict, check, evidence::Instead};
use highwater_history::verdict::{Judgement, Validity};

/// What comes of it: the verdict, and what its reason or a note says; none where it is refused.
type Row = (&'static str, Option<Validity>, &'static str);

/// An event of a client.
fn event(index: u64, time: u64, process: u64, kind: &str, ops: &str) -> String {
    let f = if ops.contains("poll") { "poll" } else { "send" };
    let head = format!(r#""index":{index},"time":{time},"process":{process},"type":"{kind}""#);
    format!(r#"{{{head},"f":"{f}","value":{ops}}}"#)
}

const ASKED: &str = r#"[["send","x",7]]"#;
const ACKED: &str = r#"[["send","x",[0,7]]]"#;
const POLL: &str = r#"[["poll"]]"#;
const POLLED: &str = r#"[["poll",{"x":[[0,7]]}]]"#;

/// A valid history: one record, sent and read.
fn lines() -> Vec<String> {
    vec![
        event(0, 10, 1, "invoke", ASKED),
        event(1, 20, 1, "ok", ACKED),
        event(2, 30, 2, "invoke", POLL),
        event(3, 40, 2, "ok", POLLED),
    ]
}

fn with(change: impl FnOnce(&mut Vec<String>)) -> String {
    let mut lines = lines();
    change(&mut lines);
    lines.join("\n") + "\n"
}

fn judged(path: &Path) -> Result<Verdict, String> {
    let evidence = Evidence::load(path, &Instead::default()).map_err(|error| error.to_string())?;
    check(&evidence, &Options::default()).map_err(|error| error.to_string())
}

fn holds(path: &Path, (name, wanted, says): Row) {
    match (judged(path), wanted) {
        (Err(why), None) => assert!(why.contains(says), "{name}: {why}"),
        (Ok(verdict), Some(wanted)) => {
            assert_eq!(verdict.verdict, wanted, "{name}: {}", verdict.reason);
            let mut said = verdict.notes.iter().chain([&verdict.reason]);
            let told = said.any(|text| text.contains(says));
            assert!(told, "{name}: {} {:?}", verdict.reason, verdict.notes);
            if verdict.reason.starts_with("the history cannot be judged") {
                let unknown = |of: &Judgement| *of == Judgement::Unknown;
                assert!(verdict.claims.iter().all(|claim| unknown(&claim.verdict)), "{name}");
            }
        }
        (got, _) => panic!("{name}: {:?}", got.map(|verdict| verdict.reason)),
    }
}

#[test]
fn a_history_that_does_not_fit_is_refused_or_noted_by_line_and_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.jsonl");
    let (unknown, valid) = (Some(Validity::Unknown), Some(Validity::Valid));
    let rows: Vec<(Row, String)> = vec![
        (("whole", valid, "no manifest: where neither"), with(|_| ())),
        (
            ("a value twice", unknown, "line 3: value 7 is sent to x a second time"),
            with(|lines| lines.insert(2, event(2, 20, 3, "invoke", ASKED))),
        ),
        (
            ("overlapping", unknown, "line 2: process 1 invokes while an operation is in flight"),
            with(|lines| lines[1] = event(1, 20, 1, "invoke", POLL)),
        ),
        (
            ("time runs back", unknown, "line 3: time runs back from 20 to 19 ns"),
            with(|lines| lines[2] = event(2, 19, 2, "invoke", POLL)),
        ),
        (
            ("no invocation", unknown, "line 3: process 3 completes what it never invoked"),
            with(|lines| lines[2] = event(2, 30, 3, "ok", POLLED)),
        ),
        (
            ("another function", unknown, "line 2: process 1 invokes send and completes poll"),
            with(|lines| lines[1] = event(1, 20, 1, "ok", POLLED)),
        ),
        (
            ("another value", unknown, "line 2: a completion names value 8 of x"),
            with(|lines| lines[1] = event(1, 20, 1, "ok", r#"[["send","x",[0,8]]]"#)),
        ),
        (
            ("index stays", unknown, "line 3: index 1 does not rise above 1"),
            with(|lines| lines[2] = event(1, 30, 2, "invoke", POLL)),
        ),
        (
            ("a gap", valid, "the history's index goes from 3 to 9: events may be missing"),
            with(|lines| lines[3] = event(9, 40, 2, "ok", POLLED)),
        ),
        (
            ("no completion", Some(Validity::Vacuous), "nothing was acknowledged"),
            with(|lines| drop(lines.remove(1))),
        ),
        (("a broken line", None, "history.jsonl: line 2"), with(|lines| lines[1].truncate(40))),
        (
            ("a broken field", None, "field `time`"),
            with(|lines| lines[1] = lines[1].replace("20", r#""soon""#)),
        ),
        (
            ("a field twice", None, "field `time`"),
            with(|lines| lines[1] = lines[1].replace(r#""time":20"#, r#""time":20,"time":21"#)),
        ),
        (
            ("another version", None, "format 2"),
            with(|lines| lines.insert(0, r#"{"format":2,"kind":"history"}"#.to_owned())),
        ),
        (
            ("the last line is cut", unknown, "what stood from line 4 on is missing"),
            with(|_| ()).trim_end().trim_end_matches('}').to_owned(),
        ),
    ];
    for (row, text) in rows {
        fs::write(&file, text).expect("it can be written");
        holds(&file, row);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let from = entry.expect("an entry").path();
        let to = to.join(from.file_name().expect("a name"));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(&from, &to).expect("it can be copied")),
        }
    }
}

#[test]
fn what_is_missing_of_a_run_is_told_and_leaves_it_unknown() {
    let run = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus/node-calm");
    let unknown = Some(Validity::Unknown);
    let rows: [(Row, &str); 6] = [
        (("whole", Some(Validity::Valid), "every promise was kept"), "-"),
        (("no manifest", unknown, "manifest.json (it is not there)"), "manifest.json"),
        (("no outcome", unknown, "there is no outcome.json"), "outcome.json"),
        (("no metadata log", unknown, "metadata.jsonl (it is not there)"), "metadata.jsonl.zst"),
        (("no dumps", unknown, "no final dump of all-0 on node 3"), "dumps"),
        (
            ("no samples", Some(Validity::Valid), "no samples.jsonl: nobody asked"),
            "samples.jsonl.zst",
        ),
    ];
    for (row, gone) in rows {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&run, folder.path());
        let gone = folder.path().join(gone);
        if gone.is_dir() {
            fs::remove_dir_all(&gone).expect("it was there");
        } else if gone.exists() {
            fs::remove_file(&gone).expect("it was there");
        }
        holds(folder.path(), row);
    }
}

/// Of a run every event was recorded: a gap may hide the send of a record.
#[test]
fn a_gap_in_the_index_of_a_run_makes_it_unfit() {
    let run = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus/node-calm");
    let folder = tempfile::tempdir().expect("a folder");
    copy(&run, folder.path());
    let history = highwater_history::RunFolder::new(folder.path()).history().expect("a history");
    let mut lines: Vec<String> = history
        .map(|event| serde_json::to_string(&event.expect("an event")).expect("JSON"))
        .collect();
    lines.remove(100);
    fs::remove_file(folder.path().join("history.jsonl.zst")).expect("it was there");
    let file = folder.path().join("history.jsonl");
    fs::write(file, lines.join("\n") + "\n").expect("it can be written");
    let says = "line 101: index 101 where 100 is next: events are missing";
    holds(folder.path(), ("a gap", Some(Validity::Unknown), says));
}
