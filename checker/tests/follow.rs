//! `highwater-check --follow`: a history is judged while it is written.

use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use highwater_history::Verdict;
use tempfile::TempDir;

fn follow(path: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_highwater-check"));
    program.arg(path).args(["--follow", "--json"]);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

fn checked(path: &Path) -> Verdict {
    let program =
        Command::new(env!("CARGO_BIN_EXE_highwater-check")).arg(path).arg("--json").output();
    verdict(&program.expect("the program runs"))
}

fn verdict(output: &Output) -> Verdict {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The lines of an acknowledged send, at an index from which on two are free.
fn send(index: u64, value: u64, offset: u64) -> String {
    let line = |index: u64, kind: &str, sent: String| {
        let time = index * 1_000;
        let head = format!(r#"{{"index":{index},"time":{time},"process":0,"type":"{kind}","#);
        head + &format!(r#""f":"send","value":{sent}}}"#) + "\n"
    };
    line(index, "invoke", format!(r#"[["send","t-0",{value}]]"#))
        + &line(index + 1, "ok", format!(r#"[["send","t-0",[{offset},{value}]]]"#))
}

/// A history that goes wrong at its third send, and the rest of it.
fn history() -> [String; 2] {
    [send(0, 1, 0) + &send(2, 2, 1), send(4, 3, 0)]
}

struct World {
    /// Keeps the folder.
    _folder: TempDir,
    file: File,
    path: std::path::PathBuf,
}

fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("history.jsonl");
    let file = File::create(&path).expect("it is new");
    World { _folder: folder, file, path }
}

/// Ends by itself: whoever waits here for a program that goes on waits for ever.
fn ended(child: Child) -> Output {
    child.wait_with_output().expect("it ran")
}

#[test]
fn a_violation_that_is_certain_ends_it_while_the_file_is_written() {
    let mut world = world();
    let child = follow(&world.path).spawn().expect("the program runs");
    for part in history() {
        world.file.write_all(part.as_bytes()).expect("it is written");
    }
    let output = ended(child);
    let verdict = verdict(&output);
    assert_eq!(output.status.code(), Some(1), "{verdict:?}");
    assert_eq!(verdict.anomalies.get("nonmonotonic-send"), Some(&1), "{verdict:?}");
    assert!(verdict.notes[0].contains("while it was written, after 3 operations"), "{verdict:?}");
    // It was still open all the time.
    world.file.write_all(send(6, 4, 2).as_bytes()).expect("it is written");
}

#[test]
fn a_stream_is_followed_too() {
    let mut child = follow(Path::new("-")).spawn().expect("the program runs");
    let mut input = child.stdin.take().expect("it has one");
    for part in history() {
        input.write_all(part.as_bytes()).expect("it is read");
    }
    let mut said = String::new();
    child.stdout.take().expect("it has one").read_to_string(&mut said).expect("it is read");
    let verdict: Verdict = serde_json::from_str(&said).expect("it is a verdict");
    assert_eq!(verdict.anomalies.get("nonmonotonic-send"), Some(&1), "{verdict:?}");
    drop(input);
    assert_eq!(ended(child).status.code(), Some(1));
}

#[test]
fn at_its_end_a_history_is_judged_as_always() {
    let mut world = world();
    let child = follow(&world.path).spawn().expect("the program runs");
    world.file.write_all(history()[0].as_bytes()).expect("it is written");
    // Only here, where nobody writes any more, it is known that nobody read.
    let path = world.path.clone();
    drop(world.file);
    let followed = ended(child);
    assert_eq!(verdict(&followed), checked(&path));
    assert_eq!(verdict(&followed).anomalies.get("unseen"), Some(&2));
    assert_eq!(followed.status.code(), Some(1));
}

#[test]
fn a_line_that_nobody_finished_is_dropped() {
    let mut world = world();
    let child = follow(&world.path).spawn().expect("the program runs");
    let [whole, cut] = history();
    world.file.write_all(whole.as_bytes()).expect("it is written");
    world.file.write_all(&cut.as_bytes()[..20]).expect("it is written");
    let path = world.path.clone();
    drop(world.file);
    assert_eq!(verdict(&ended(child)), checked(&path));
}

#[test]
fn what_is_no_event_is_refused_with_its_line() {
    let mut world = world();
    let child = follow(&world.path).spawn().expect("the program runs");
    world.file.write_all(history()[0].as_bytes()).expect("it is written");
    world.file.write_all(b"{}\n").expect("it is written");
    let output = ended(child);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.contains("line 5"), "{said}");
}

#[test]
fn what_shows_nothing_before_its_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["history.jsonl.zst", "history.jsonl.gz", "history.edn", "history.hwh"] {
        let path = folder.path().join(name);
        fs::write(&path, "").expect("it is written");
        let output = ended(follow(&path).spawn().expect("the program runs"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{name}: {said}");
        assert!(said.contains("judge this history at its end"), "{name}: {said}");
    }
}

/// A run that has ended is judged with all that it left.
#[test]
fn a_run_that_has_ended_is_judged_at_once() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus/node-calm");
    let folder = tempfile::tempdir().expect("a folder");
    let copied = Command::new("cp").arg("-r").arg(&run).arg(folder.path()).status();
    assert!(copied.expect("cp runs").success());
    let path = folder.path().join("node-calm");
    let output = ended(follow(&path).spawn().expect("the program runs"));
    assert_eq!(verdict(&output), checked(&path));
}

/// Packed bytes on a pipe, whether or not a line ends among them.
#[test]
fn a_packed_stream_is_refused() {
    for packed in [&b"\x1f\x8b\x08\x00"[..], &b"\x1f\x8b\n\x08"[..], &b"\x28\xb5\x2f\xfd\x00"[..]] {
        let mut child = follow(Path::new("-")).spawn().expect("the program runs");
        let mut input = child.stdin.take().expect("it has one");
        input.write_all(packed).expect("it is read");
        drop(input);
        let output = ended(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{packed:?}: {said}");
    }
}

/// A pipe has no length; it ends when its writer is gone.
#[test]
fn a_named_pipe_is_followed_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let [path, file] = ["pipe.jsonl", "file.jsonl"].map(|name| folder.path().join(name));
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    let child = follow(&path).spawn().expect("the program runs");
    fs::write(&path, &history()[0]).expect("it is read");
    fs::write(&file, &history()[0]).expect("it is written");
    assert_eq!(verdict(&ended(child)), checked(&file));
}
