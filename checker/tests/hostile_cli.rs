//! `highwater-check` where files are cut, are no files, or nothing more can be written: one
//! sentence, the right status, nothing left behind.

mod recorded;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use highwater_history::{
    convert::convert,
    reader::{HistoryFile, HistoryFormat},
};
use recorded::record;
use tempfile::TempDir;

const KEYS: i64 = 5;
const SENDS: i64 = 6_000;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn converted(from: &Path, name: &str) -> PathBuf {
    let to = from.with_file_name(name);
    let format = HistoryFormat::named(&to).expect("its name has a format");
    convert(&HistoryFile::from(from), &to, format).expect("it is converted");
    to
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater-check"));
    command.args(args);
    command
}

fn check(args: &[&str]) -> Output {
    command(args).output().expect("it runs")
}

/// What it refuses with, in one sentence.
fn sentence(output: &Output, status: i32) -> String {
    let said = String::from_utf8(output.stderr.clone()).expect("text");
    assert_eq!(output.status.code(), Some(status), "{said}");
    let line = said.strip_suffix('\n').expect("a whole line");
    assert!(line.starts_with("highwater-check: ") && !line.contains('\n'), "{said}");
    line.to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary folder's name is text")
}

fn pipe(file: &Path) {
    let made = Command::new("mkfifo").arg(file).status().expect("mkfifo runs");
    assert!(made.success());
}

/// Positions at which a binary history may be cut: where its parts begin, beside that, and within.
fn edges(bytes: &[u8]) -> Vec<usize> {
    let mut starts = vec![bytes.iter().position(|byte| *byte == b'\n').expect("a first line") + 1];
    loop {
        let at = *starts.last().expect("one at least");
        let head = &bytes[at..at + 24];
        let packed = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        if packed == 0 {
            break;
        }
        starts.extend([at + 24, at + 24 + packed]);
    }
    let beside = starts.iter().flat_map(|at| [at - 1, *at, at + 1, at + 9]);
    beside.filter(|at| *at < bytes.len()).collect()
}

#[test]
fn a_binary_history_is_cut_wherever_it_ends() {
    let folder = folder();
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, SENDS);
    let whole = fs::read(converted(&lines, "h.hwh")).expect("it is there");
    let cut = folder.path().join("cut.hwh");
    let edges = edges(&whole);
    assert!(edges.len() > 20, "{edges:?}");
    for at in edges {
        fs::write(&cut, &whole[..at]).expect("it can be written");
        for args in [vec![text(&cut)], vec![text(&cut), "--memory", "1GiB"]] {
            let output = check(&args);
            if whole[..at].contains(&b'\n') {
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(said.contains("note: history: what stood from line "), "{at}: {said}");
                assert!([1, 2, 3].contains(&output.status.code().expect("a status")), "{at}");
            } else {
                assert!(sentence(&output, 64).contains("is it one, and whole?"));
            }
        }
    }
}

/// Of every other form: a verdict, or a sentence.
#[test]
fn cut_files_of_every_form_are_judged_or_refused() {
    let folder = folder();
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, 12);
    let names = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.edn", "a.edn.gz", "a.edn.zst"];
    let mut cuts = 0;
    for name in names {
        let whole = fs::read(converted(&lines, name)).expect("it is there");
        let cut = folder.path().join(format!("cut-{name}"));
        for at in (0..whole.len()).step_by(whole.len() / 12) {
            fs::write(&cut, &whole[..at]).expect("it can be written");
            let output = check(&[text(&cut)]);
            match output.status.code() {
                Some(64) => drop(sentence(&output, 64)),
                status => assert!(matches!(status, Some(0..=3)), "{name} {at}: {output:?}"),
            }
            cuts += 1;
        }
    }
    assert!(cuts >= 6 * 12);
}

#[test]
fn a_pipe_is_judged_as_a_file_is() {
    let folder = folder();
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, 100);
    let fifo = folder.path().join("fifo");
    pipe(&fifo);
    let of_file = check(&[text(&lines), "--json"]);
    assert_eq!(of_file.status.code(), Some(1));
    for more in [vec![], vec!["--memory", "1GiB"]] {
        let (from, to) = (lines.clone(), fifo.clone());
        let writing = thread::spawn(move || fs::copy(from, to).expect("somebody reads"));
        let of_pipe = check(&[vec![text(&fifo), "--json"], more].concat());
        writing.join().expect("it was written");
        assert!(of_pipe.stdout == of_file.stdout, "{of_pipe:?}");
    }
    let why = sentence(&check(&[text(&fifo), "--explain", "1"]), 64);
    assert!(why.contains("--explain reads the history twice"), "{why}");
}

#[test]
fn a_run_folder_has_files() {
    for name in ["history.jsonl", "manifest.json", "outcome.json", "dumps/1.jsonl"] {
        let folder = folder();
        let (history, dumps) = (folder.path().join("history.jsonl"), folder.path().join("dumps"));
        fs::create_dir(dumps).expect("a folder");
        if name != "history.jsonl" {
            record(&history, KEYS, 1);
        }
        pipe(&folder.path().join(name));
        let why = sentence(&check(&[text(folder.path())]), 64);
        assert!(why.contains("no regular file") && why.contains(name), "{why}");
    }
}

#[test]
fn output_that_nobody_takes_is_told() {
    let folder = folder();
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, 10);
    let full = fs::File::options().write(true).open("/dev/full").expect("it opens");
    let output = command(&[text(&lines)]).stdout(full).output().expect("it runs");
    let why = sentence(&output, 70);
    assert!(why.starts_with("highwater-check: standard output: No space left"), "{why}");
}

/// Files may not grow beyond a few kilobytes; what is written meets that as it meets a full disk.
fn limited(args: &[&str], temporary: &Path) -> Output {
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
    Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_highwater-check")])
        .args(args)
        .env("TMPDIR", temporary)
        .output()
        .expect("it runs")
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("it is there").next().is_none()
}

#[test]
fn a_full_disk_is_a_failure_that_leaves_nothing() {
    let (folder, temporary) = (folder(), folder());
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, SENDS);
    let full = limited(&[text(&lines), "--memory", "1GiB"], temporary.path());
    let why = sentence(&full, 70);
    assert!(why.contains(text(temporary.path())) && why.contains("File too large"), "{why}");
    assert!(is_empty(temporary.path()));
    let part = temporary.path().join("part.json");
    let full = limited(&[text(&lines), "--shard", "0/1", "--out", text(&part)], temporary.path());
    let why = sentence(&full, 70);
    assert!(why.contains("part.json: File too large"), "{why}");
    assert!(is_empty(temporary.path()));
}

#[test]
fn a_part_replaces_no_device() {
    let folder = folder();
    let lines = folder.path().join("h.jsonl");
    record(&lines, KEYS, 10);
    let fifo = folder.path().join("part");
    pipe(&fifo);
    let why = sentence(&check(&[text(&lines), "--shard", "0/1", "--out", text(&fifo)]), 64);
    assert!(why.contains("part: what is there is no regular file"), "{why}");
    assert!(!fs::metadata(&fifo).expect("it is there").is_file());
}

/// A process that waits for more of its history, which comes through a pipe.
fn waiting(fifo: &Path, temporary: &Path) -> (Child, fs::File) {
    let child = command(&[text(fifo), "--memory", "1GiB"])
        .env("TMPDIR", temporary)
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs");
    let writer = fs::File::options().write(true).open(fifo).expect("somebody reads");
    (child, writer)
}

/// The file in which the history is kept has no name: whatever ends the process leaves nothing.
#[test]
fn what_is_kept_meanwhile_has_no_name() {
    let (folder, temporary) = (folder(), folder());
    let fifo = folder.path().join("fifo");
    pipe(&fifo);
    let (mut child, writer) = waiting(&fifo, temporary.path());
    let kept = || {
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).expect("it runs");
        let mut targets = open.filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
        targets.any(|target| target.starts_with(temporary.path()))
    };
    let looked = (0..500).any(|_| {
        thread::sleep(Duration::from_millis(10));
        kept() && is_empty(temporary.path())
    });
    assert!(looked, "it keeps the history in {:?}", temporary.path());
    child.kill().expect("it runs");
    child.wait().expect("it was there");
    drop(writer);
    assert!(is_empty(temporary.path()));
}
