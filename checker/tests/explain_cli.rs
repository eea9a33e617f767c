//! `highwater-check --explain` as a program.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// One record is lost: both polls went past it.
const LOST: &str = include_str!("../testdata/explained.jsonl");

fn check(history: &str, options: &[&str]) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("h.jsonl");
    fs::write(&file, history).expect("a temporary file can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater-check"));
    command.arg(&file).args(options).output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[test]
fn findings_have_numbers_and_the_first_is_explained() {
    let judged = check(LOST, &[]);
    assert!(
        stdout(&judged).contains("\n  1. lost-write (rule 38) t-0 value 7 at 0: node 1 acknow")
    );
    let explained = check(LOST, &["--explain", "1"]);
    assert_eq!(explained.status.code(), Some(1), "the verdict's status");
    let text = stdout(&explained);
    for line in [
        "1. lost-write (rule 38) t-0 value 7 at 0, claim lost-write",
        "  events  seconds               process       node  asked       came back  records",
        "  0,1     0.001000 to 0.002500  1 (producer)  1     send t-0 7  ok         t-0 0:7",
        "  4,5     0.005000 to 0.006000  2 (consumer)  2     poll        ok         \
         t-0 1:8 (epoch 3)",
        "It rests on what is not there: 1 polls read t-0, none returned it.",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    assert!(text.contains("That cannot be: The offset in an acknowledgement"), "{text}");
    assert!(text.contains("c.1.1"), "{text}");
}

/// The examples of docs/formats.md are what the program prints.
#[test]
fn the_json_is_that_of_the_page() {
    for (section, options) in
        [("Explanation", &["--explain", "1"][..]), ("What if", &["--what-if"])]
    {
        let shown = stdout(&check(LOST, &[options, &["--json"]].concat()));
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(example_of(section), shown);
    }
}

/// The example in a section of the page.
fn example_of(section: &str) -> Value {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/formats.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let (_, section) = page.split_once(&format!("## {section}\n")).expect("the section is there");
    let (_, example) = section.split_once("```json\n").expect("and an example");
    let (example, _) = example.split_once("```").expect("which ends");
    serde_json::from_str(example).expect("JSON")
}

/// A record that was read twice at one offset beside another, and one that was sent twice.
const NEEDS_TWO: &str = include_str!("../testdata/what_if.jsonl");

/// A setting that excuses each alone excuses both together only beside the other.
#[test]
fn the_weakest_changes_are_told() {
    let told = check(NEEDS_TWO, &["--what-if"]);
    assert_eq!(told.status.code(), Some(1), "the verdict's status");
    let text = stdout(&told);
    for line in [
        "  the whole: valid with enable.idempotence=false and isolation.level=read_uncommitted",
        "  duplicate 1: legal with enable.idempotence=false (c.2 enable.idempotence=false)",
        "  precommitted-read 1: legal with isolation.level=read_uncommitted \
         (c.6 isolation.level=read_uncommitted)",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    let promised = ["enable.idempotence=false", "isolation.level=read_uncommitted"];
    let promised = promised.map(|setting| ["--promise", setting]).concat();
    assert_eq!(check(NEEDS_TWO, &promised).status.code(), Some(0));
    let rest = stdout(&check(NEEDS_TWO, &["--promise", "acks=1", "--what-if"]));
    assert!(rest.contains("what if less had been promised than acks=1, "), "{rest}");
}

/// What no setting excuses is said so, and what a setting asks for beside its value.
#[test]
fn what_no_setting_excuses_is_told() {
    let both = LOST.replace("[[1,8]]", "[[0,9],[1,8]]");
    let text = stdout(&check(&both, &["--what-if"]));
    for line in [
        "  the whole: no settings make all of it legal (47 combinations judged)",
        "  phantom-read 1: no settings excuse it",
        "  min.insync.replicas=1 alone permits none of inconsistent-offsets, lost-write, unseen: \
         c.1.2 asks for power losses or wipes on record of so many replicas that held it; none is",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
}

#[test]
fn what_cannot_be_explained_is_refused_in_one_sentence() {
    let beyond = check(LOST, &["--explain", "9"]);
    assert_eq!(beyond.status.code(), Some(64));
    assert_eq!(
        stderr(&beyond),
        "highwater-check: --explain 9: the verdict lists findings 1 to 2\n"
    );
    let zero = check(LOST, &["--explain", "0"]);
    assert_eq!(stderr(&zero), "highwater-check: --explain 0: the verdict lists findings 1 to 2\n");
    let valid = LOST.replace("[[1,8]]", "[[0,7],[1,8]]");
    let none = check(&valid, &["--explain", "1"]);
    assert_eq!(none.status.code(), Some(64));
    assert_eq!(stderr(&none), "highwater-check: --explain 1: the verdict has no findings\n");
}

#[test]
fn a_stream_is_not_explained() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater-check"));
    let output = command.args(["-", "--explain", "1"]).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(64));
    let why =
        "highwater-check: --explain reads the history twice; give a file instead of a stream\n";
    assert_eq!(stderr(&output), why);
}
