//! `highwater-check -`: a history as a stream is judged as the same history in a file.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use highwater_history::{Verdict, convert::convert, reader::HistoryFormat};
use tempfile::TempDir;

fn corpus(run: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus").join(run)
}

/// The history of a recorded run that lost records, as its settings allowed.
fn packed_history() -> PathBuf {
    corpus("kafka-unclean").join("history.jsonl.zst")
}

fn unpacked(file: &Path) -> Vec<u8> {
    zstd::decode_all(File::open(file).expect("it is there")).expect("it is whole")
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_highwater-check"))
}

/// What the program says of a history that comes in piece by piece.
fn streamed(history: &[u8], args: &[&str]) -> Output {
    let mut child = program()
        .arg("-")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut into = child.stdin.take().expect("it is piped");
    let (first, rest) = history.split_at(history.len().min(3));
    let (first, rest) = (first.to_vec(), rest.to_vec());
    let writing = thread::spawn(move || {
        // The program may have ended by then: it has seen enough.
        let _ = into.write_all(&first).and_then(|()| into.write_all(&rest));
    });
    let output = child.wait_with_output().expect("the program ends");
    writing.join().expect("writing does not panic");
    output
}

fn judged_file(file: &Path, args: &[&str]) -> Output {
    program().arg(file).args(args).output().expect("the program runs")
}

fn same(stream: &Output, file: &Output) -> Verdict {
    let said = String::from_utf8_lossy(&stream.stderr);
    assert_eq!(stream.status, file.status, "{said}");
    assert_eq!(stream.stdout, file.stdout, "{said}");
    serde_json::from_slice(&stream.stdout).expect("a verdict")
}

fn refusal(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(output.stdout.is_empty());
    said
}

#[test]
fn a_stream_has_the_verdict_of_its_file_however_it_is_packed() {
    let temporary = TempDir::new().expect("a folder");
    let file = packed_history();
    let wanted = judged_file(&file, &["--json"]);
    let gzip = temporary.path().join("history.jsonl.gz");
    convert(&(&file).into(), &gzip, HistoryFormat::Jsonl).expect("it is converted");
    for bytes in [
        fs::read(&file).expect("it is there"),
        unpacked(&file),
        fs::read(&gzip).expect("it is there"),
    ] {
        let verdict = same(&streamed(&bytes, &["--json"]), &wanted);
        assert!(verdict.counts.acknowledged > 100);
    }
}

#[test]
fn jepsens_edn_streams_too() {
    let temporary = TempDir::new().expect("a folder");
    for name in ["history.edn", "history.edn.zst"] {
        let edn = temporary.path().join(name);
        convert(&(&packed_history()).into(), &edn, HistoryFormat::Edn).expect("it is converted");
        let bytes = fs::read(&edn).expect("it is there");
        let stream = streamed(&bytes, &["--json", "--format", "jepsen-edn"]);
        same(&stream, &judged_file(&edn, &["--json"]));
        let why = refusal(&streamed(b"{:index 0}\n", &[]));
        assert!(why.contains("standard input: line 1"), "{why}");
    }
}

/// Manifest, dumps and promises decide as they do beside a file.
#[test]
fn a_stream_is_judged_by_what_is_given_beside_it() {
    let run = corpus("kafka-unclean");
    let [manifest, dumps] = ["manifest.json", "dumps"].map(|name| run.join(name));
    let [manifest, dumps] = [&manifest, &dumps].map(|path| path.to_str().expect("a plain name"));
    let file = packed_history();
    let bytes = fs::read(&file).expect("it is there");
    let all = ["--json", "--manifest", manifest, "--dumps", dumps];
    let by_settings = same(&streamed(&bytes, &all), &judged_file(&file, &all));
    assert!(by_settings.notes.iter().any(|note| note.contains("dumps as given by the user")));
    let strictly = [&all[..], &["--promise", "unclean.leader.election.enable=false"]].concat();
    let by_promise = same(&streamed(&bytes, &strictly), &judged_file(&file, &strictly));
    assert_ne!(by_promise.anomalies, by_settings.anomalies, "the promises decide");
}

#[test]
fn a_stream_that_ends_within_a_line_was_cut() {
    let whole = unpacked(&packed_history());
    let cut = streamed(&whole[..whole.len() - 30], &[]);
    let shown = String::from_utf8_lossy(&cut.stdout);
    assert!(shown.contains("on is missing"), "{shown}");
    let nothing = streamed(b"", &[]);
    assert_eq!(nothing.status.code(), Some(3), "{}", String::from_utf8_lossy(&nothing.stderr));
}

#[test]
fn what_is_no_history_is_refused_with_its_line() {
    let why = refusal(&streamed(b"{\"index\":0}\n{}\n", &[]));
    assert!(why.contains("standard input: line 1: field `time`: missing"), "{why}");
    // A gzip header and then something else.
    let why = refusal(&streamed(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff], &[]));
    assert!(why.contains("standard input: its packing is damaged"), "{why}");
}

/// Nobody types a history, and a program that waits in silence looks hung.
#[test]
fn a_terminal_is_no_history() {
    let terminal = File::options().read(true).write(true).open("/dev/ptmx").expect("a terminal");
    let output = program().arg("-").stdin(terminal).output().expect("the program runs");
    let why = refusal(&output);
    assert!(why.contains("standard input is a terminal; pipe a history into it"), "{why}");
}

#[test]
fn a_folder_of_that_name_is_no_matter() {
    let temporary = TempDir::new().expect("a folder");
    fs::create_dir(temporary.path().join("-")).expect("a folder can be made");
    let mut check = program();
    let output = check
        .current_dir(temporary.path())
        .arg("-")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(temporary.path().join("-")).expect("it is there").count(), 0);
}

/// Whoever wrote the history says what it lacks; nobody can fill a verdict with that.
#[test]
fn notes_of_a_history_stand_in_the_verdict_up_to_a_hundred() {
    let note = |index: usize, value: &str| {
        let head = format!("{{\"index\":{index},\"time\":0,\"process\":\"harness\",");
        format!("{head}\"type\":\"info\",\"f\":\"note\",\"value\":{value}}}\n")
    };
    let mut history = note(0, "{\"no\":\"text\"}");
    history.extend((1..=150).map(|index| note(index, &format!("\"gap {index}\""))));
    let output = streamed(history.as_bytes(), &["--json"]);
    let verdict: Verdict = serde_json::from_slice(&output.stdout).expect("a verdict");
    let notes: Vec<_> = verdict.notes.iter().filter(|note| note.contains("gap")).collect();
    assert_eq!((notes.len(), notes[0].as_str()), (100, "history: gap 1"));
    assert_eq!(notes[99], "history: gap 100");
}
