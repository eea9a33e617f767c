//! `highwater-check` as a program: exit statuses, messages, what it writes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use highwater_checker::evidence::{Evidence, Instead};
use highwater_history::{
    RunFolder, Verdict,
    dumps::{DumpBatch, DumpHeader, Moment, SameAs, ValueRun},
    format::Document,
    lines::LineWriter,
    verdict::Validity,
};
use tempfile::TempDir;

const SENT: &str = concat!(
    r#"{"index":0,"time":1,"process":1,"type":"invoke","f":"send","#,
    r#""value":[["send","t-0",7]]}"#,
    "\n",
    r#"{"index":1,"time":2,"process":1,"type":"ok","f":"send","value":[["send","t-0",[0,7]]],"#,
    r#""node":1}"#,
    "\n",
);

const READ: &str = concat!(
    r#"{"index":2,"time":3,"process":2,"type":"invoke","f":"poll","value":[["poll"]]}"#,
    "\n",
    r#"{"index":3,"time":4,"process":2,"type":"ok","f":"poll","#,
    r#""value":[["poll",{"t-0":[[0,7]]}]],"node":1}"#,
    "\n",
);

/// A poll that reads nothing.
const POLLS: &str = concat!(
    r#"{"index":4,"time":5,"process":2,"type":"invoke","f":"poll","value":[["poll"]]}"#,
    "\n",
    r#"{"index":5,"time":6,"process":2,"type":"ok","f":"poll","value":[["poll",{}]]}"#,
    "\n",
);

const MANIFEST: &str = r#"{"format":1,"run":"r","seed":1,"command":["highwater","run"],"commit":"c",
"reproduce":"highwater run --seed 1",
"target":{"name":"node","nodes":[{"id":1,"roles":["broker"]}],
"topics":[{"name":"t","assignment":[[1]]}]},
"timing":{"profile":"fast","session_ms":1500,"heartbeat_ms":300,"lag_limit_ms":1000},
"workload":{"name":"log"},"promises":{"run":{"acks":"all"}},
"clocks":{"wall_ns":0,"monotonic_ns":0},"machine":{"system":"s","cpus":2,"memory_bytes":1}}"#;

const OUTCOME: &str = r#"{"format":1,"ended":"complete","at":9,
"recovery":{"recovered":true,"healed_at":5,"ended_at":6,"limit_ms":5},
"partitions":{"t-0":{"leader":1,"leader_epoch":0,"isr":[1],"hw":1,"final_read_to":1}}}"#;

struct Run {
    folder: TempDir,
}

impl Run {
    fn new(history: &str) -> Self {
        let run = Self { folder: TempDir::new().expect("a temporary folder") };
        run.write("history.jsonl", history);
        run
    }

    /// A whole run folder with manifest and outcome.
    fn whole(history: &str) -> Self {
        let run = Self::new(history);
        run.write("manifest.json", MANIFEST);
        run.write("outcome.json", OUTCOME);
        run
    }

    /// A whole run folder that has all that its outcome tells of.
    fn complete(history: &str, outcome: &str) -> Self {
        let run = Self::whole(history);
        run.write("outcome.json", outcome);
        run.write("metadata.jsonl", "{\"format\":1,\"kind\":\"metadata\"}\n");
        run.dump("final/t-0-1.jsonl", |_| ());
        run
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a temporary file can be written");
    }

    /// Writes a dump with the record once for each leader epoch of its header.
    fn dump(&self, name: &str, change: impl FnOnce(&mut DumpHeader)) {
        let file = self.path("dumps").join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder can be made");
        let mut header = DumpHeader {
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
            same_as: None,
        };
        change(&mut header);
        let mut writer = LineWriter::create(&file, &header).expect("a dump is created");
        let copies = if header.same_as.is_some() { 0 } else { header.epochs.len() };
        for _ in 0..copies {
            let batch = DumpBatch {
                base_offset: 0,
                last_offset: 0,
                epoch: 0,
                producer_id: -1,
                producer_epoch: -1,
                sequence: -1,
                control: false,
                crc: 1,
                damage: None,
                values: vec![ValueRun::One(7)].into(),
                offset_deltas: None,
            };
            writer.write(&batch).expect("a batch is written");
        }
        writer.finish().expect("the dump is completed");
    }

    fn lacks_dumps(&self) -> bool {
        let evidence = Evidence::load(self.folder.path(), &Instead::default());
        evidence.expect("it can be read").lacks_dumps
    }

    fn check(&self, args: &[&str]) -> Output {
        check(self.folder.path(), args)
    }
}

fn check(path: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_highwater-check"))
        .arg(path)
        .args(args)
        .output()
        .expect("the program runs")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is text")
}

/// The program refuses with status 64 and a message with these words.
fn assert_refused(output: &Output, words: &[&str]) {
    let why = text(&output.stderr);
    assert_eq!(status(output), 64, "{why}");
    assert!(text(&output.stdout).is_empty());
    for word in words {
        assert!(why.contains(word), "{word:?} is not in {why:?}");
    }
}

#[test]
fn exit_statuses_follow_the_verdict() {
    let whole = format!("{SENT}{READ}");
    let overlapping = whole.replace("\"ok\",\"f\":\"send\"", "\"invoke\",\"f\":\"send\"");
    let cases = [
        (whole.clone(), 0, "valid: every promise was kept"),
        (SENT.to_owned(), 1, "invalid: promises were broken: 1 unseen"),
        (overlapping, 2, "unknown: the history cannot be judged: line 2"),
        (READ.to_owned(), 1, "phantom-read"),
        (String::new(), 3, "vacuous: nothing was acknowledged"),
    ];
    for (history, exit, words) in cases {
        let run = Run::new(&history);
        let output = check(&run.path("history.jsonl"), &[]);
        let shown = text(&output.stdout);
        assert_eq!(status(&output), exit, "{shown}{}", text(&output.stderr));
        assert!(shown.contains(words), "{shown}");
        assert!(shown.contains("note: no manifest"), "{shown}");
    }
}

#[test]
fn json_is_exactly_the_verdict_and_a_run_folder_keeps_it() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.dump("final/1.jsonl.zst", |_| {});
    let output = run.check(&["--json"]);
    assert_eq!(status(&output), 0, "{}", text(&output.stderr));
    let printed: Verdict = serde_json::from_slice(&output.stdout).expect("a verdict");
    assert_eq!(printed.verdict, Validity::Valid);
    let kept =
        RunFolder::new(run.folder.path()).verdict().expect("it is read").expect("it is there");
    assert_eq!(kept, printed);
    assert_eq!(kept.reproduce.as_deref(), Some("highwater run --seed 1"));
}

#[test]
fn a_run_without_outcome_is_unknown_and_says_how_to_repeat_it() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    fs::remove_file(run.path("outcome.json")).expect("it is there");
    let output = run.check(&[]);
    assert_eq!(status(&output), 2);
    let shown = text(&output.stdout);
    assert!(shown.contains("cut short"), "{shown}");
    assert!(shown.contains("repeat: highwater run --seed 1"), "{shown}");
}

/// Half of a run is no run, and its folder is the harness's.
#[test]
fn a_run_that_goes_on_is_left_alone() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.write("journal.jsonl", "{\"format\":1,\"kind\":\"journal\"}\n");
    let journal = fs::File::open(run.path("journal.jsonl")).expect("it is there");
    journal.lock().expect("nobody has it");
    assert_refused(&run.check(&[]), &["is still going on"]);
    assert!(!run.path("verdict.json").exists());
    // Not by closing it: a child that another test starts meanwhile has our files, too.
    journal.unlock().expect("we have it");
    assert_eq!(status(&run.check(&[])), 0);
}

/// A full disk or a kill leaves any part of it, or nothing.
#[test]
fn an_outcome_that_ends_before_its_time_is_a_run_that_was_cut_short() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    let outcome =
        OUTCOME.replace("\"at\":9", "\"at\":9,\"harness_failure\":\"é -1.5e-7\",\"x\":-1.5e-7");
    for cut in 0..outcome.len() {
        fs::write(run.path("outcome.json"), &outcome.as_bytes()[..cut]).expect("it can be written");
        let output = run.check(&[]);
        let shown = text(&output.stdout);
        assert_eq!(status(&output), 2, "{cut}: {shown}{}", text(&output.stderr));
        assert!(shown.contains("outcome.json ends before its time"), "{cut}: {shown}");
    }
    for broken in ["oops", "{\"format\":1,oops", "{}}", "{}", "null", "\u{1}"] {
        run.write("outcome.json", broken);
        assert_refused(&run.check(&[]), &["outcome.json: "]);
    }
}

#[test]
fn a_truncated_history_is_judged() {
    let whole = format!("{SENT}{READ}");
    let run = Run::new(&whole[..whole.len() - 30]);
    let output = check(&run.path("history.jsonl"), &[]);
    let shown = text(&output.stdout);
    assert_eq!(status(&output), 2, "the read may have stood in the lost part: {shown}");
    assert!(shown.contains("what stood from line 4 on is missing"), "{shown}");
}

/// A history cut at a line's end looks whole; what the outcome counted tells.
#[test]
fn a_history_with_other_events_than_the_outcome_counted_is_unknown() {
    let whole = format!("{SENT}{READ}");
    let outcome = OUTCOME.replace("\"at\":9", "\"at\":9,\"events\":4");
    let cut_line_end = whole[..whole.trim_end().rfind('\n').expect("a line") + 1].to_owned();
    let cut_line = whole[..whole.len() - 30].to_owned();
    let more = format!("{whole}{POLLS}");
    let without_end = whole.trim_end().to_owned();
    for (history, found) in [
        (whole.clone(), None),
        (without_end, None),
        (cut_line_end, Some("3 events")),
        (cut_line, Some("3 events")),
        (SENT[..SENT.find('\n').expect("a line") + 1].to_owned(), Some("1 event")),
        (String::new(), Some("0 events")),
        (more, Some("6 events")),
    ] {
        let run = Run::complete(&history, &outcome);
        let output = run.check(&[]);
        let shown = text(&output.stdout);
        let Some(found) = found else {
            assert_eq!(status(&output), 0, "{shown}");
            continue;
        };
        assert_eq!(status(&output), 2, "{history}: {shown}{}", text(&output.stderr));
        let why = format!("history.jsonl has {found}, outcome.json tells of 4");
        assert!(shown.contains(&why), "{why:?} is not in {shown}");
    }
}

/// A loss cannot be seen where nobody says what the final log is.
#[test]
fn a_key_without_a_final_log_is_missed() {
    let outcome = OUTCOME.replace("\"at\":9", "\"at\":9,\"events\":4");
    let whole = format!("{SENT}{READ}");
    for (from, to) in [("\"t-0\"", "\"t-1\""), ("\"leader\":1", "\"leader\":99")] {
        let output = Run::complete(&whole, &outcome.replace(from, to)).check(&[]);
        let shown = text(&output.stdout);
        assert_eq!(status(&output), 2, "{shown}");
        assert!(shown.contains("no final log of t-0's leader"), "{shown}");
    }
    let run = Run::complete(&whole, &outcome);
    run.dump("final/t-0-1.jsonl", |header| header.from = 1);
    let outcome = outcome.replace("\"leader\":1", "\"leader\":1,\"replicas\":[1]");
    run.write("outcome.json", &outcome);
    let shown = text(&run.check(&[]).stdout);
    assert!(shown.contains("no final dump of t-0 on node 1"), "it speaks of a part only: {shown}");
}

/// Claims by samples had nothing to judge.
#[test]
fn samples_without_an_answer_are_missed() {
    let outcome = OUTCOME.replace("\"at\":9", "\"at\":9,\"events\":4");
    let run = Run::complete(&format!("{SENT}{READ}"), &outcome);
    let silent = r#"{"asked":3,"answered":4,"node":1,"kind":"silent","error":"no answer"}"#;
    run.write("samples.jsonl", &format!("{{\"format\":1,\"kind\":\"samples\"}}\n{silent}\n"));
    let output = run.check(&[]);
    let shown = text(&output.stdout);
    assert_eq!(status(&output), 2, "{shown}");
    assert!(shown.contains("no question in it was answered"), "{shown}");
}

#[test]
fn a_dump_shares_batches_only_with_one_of_its_key() {
    for (change, wrong) in [("other", "a dump of another key"), ("below", "same_as.to")] {
        let run = Run::whole(SENT);
        run.dump("1.jsonl", |header| {
            if change == "other" {
                header.key = "u-0".into();
            }
        });
        run.dump("2.jsonl", |header| {
            let to = if change == "below" { -5 } else { 1 };
            header.same_as = Some(SameAs { file: "1.jsonl".into(), to });
        });
        assert_refused(&run.check(&[]), &["2.jsonl", wrong]);
    }
}

#[test]
fn a_gap_in_the_index_of_a_run_is_unfit() {
    let gap = format!("{SENT}{}", READ.replace("\"index\":3", "\"index\":4"));
    let output = Run::whole(&gap).check(&[]);
    let shown = text(&output.stdout);
    assert_eq!(status(&output), 2, "{shown}");
    assert!(shown.contains("line 4: index 4 where 3 is next: events are missing"), "{shown}");
    let bare = check(&Run::new(&gap).path("history.jsonl"), &[]);
    assert_eq!(status(&bare), 0, "it may have been filtered");
    let note = "the history's index goes from 3 to 4: events may be missing";
    assert!(text(&bare.stdout).contains(note));
}

#[test]
fn the_history_of_another_run_is_refused() {
    let open = concat!(
        r#"{"index":0,"time":1,"process":"harness","type":"info","f":"open-topic","value":"#,
        r#"{"key":"t-0","topic":"other","partition":0}}"#,
        "\n"
    );
    let run = Run::whole(open);
    assert_refused(&run.check(&[]), &["history.jsonl", "the manifest has no topic \"other\""]);
}

#[test]
fn claims_that_the_manifest_leaves_out_are_named() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    let manifest = MANIFEST.replace("\"promises\"", "\"claims\":[\"duplicate\"],\"promises\"");
    run.write("manifest.json", &manifest);
    let shown = text(&run.check(&[]).stdout);
    assert!(shown.contains("not judged, since the manifest does not name them: "), "{shown}");
}

#[test]
fn promises_and_claims_can_be_named() {
    let run = Run::new(SENT);
    let history = run.path("history.jsonl");
    let output = check(&history, &["--claims", "duplicate,lost-write"]);
    assert_eq!(status(&output), 3, "unseen is not judged: {}", text(&output.stdout));
    let output = check(&history, &["--promise", "acks=1", "--json"]);
    let verdict: Verdict = serde_json::from_slice(&output.stdout).expect("a verdict");
    assert_eq!(verdict.permitted["unseen"], 1);
    assert!(verdict.notes.iter().any(|note| note.contains("promised by the user")));
}

#[test]
fn wrong_options_are_refused() {
    let run = Run::new(SENT);
    let history = run.path("history.jsonl");
    let refuse = |args: &[&str], words: &[&str]| assert_refused(&check(&history, args), words);
    refuse(&["--claims", "lost-rights"], &["unknown claim \"lost-rights\""]);
    refuse(&["--promise", "acks=2"], &["acks=2", "0, 1 or all"]);
    refuse(
        &["--promise", "linger.ms=1"],
        &["unknown promise \"linger.ms\"", "min.insync.replicas"],
    );
    refuse(&["--promise", "acks"], &["not KEY=VALUE"]);
    refuse(&["--promise", "min.insync.replicas=two"], &["a number"]);
    refuse(&["--frobnicate"], &["--frobnicate"]);
    refuse(&["--format", "yaml"], &["yaml", "jsonl"]);
    refuse(&["--format", "jepsen-edn"], &["history.jsonl: line 1: a keyword lacks its name"]);
    let folder = run.folder.path();
    let refused = check(folder, &["--format", "jepsen-edn"]);
    assert_refused(&refused, &["the history of a run folder is JSON lines"]);
    refuse(&["--manifest", "/nowhere/manifest.json"], &["/nowhere/manifest.json"]);
    refuse(&["--dumps", "/nowhere"], &["/nowhere"]);
}

#[test]
fn wrong_files_are_refused() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    assert_refused(&check(&run.path("nothing"), &[]), &["nothing"]);
    let empty = TempDir::new().expect("a temporary folder");
    assert_refused(&check(empty.path(), &[]), &["no history.jsonl"]);
    run.write("history.jsonl", &format!("{SENT}oops\n{READ}"));
    assert_refused(&run.check(&[]), &["history.jsonl: line 3"]);
    run.write("history.jsonl", &format!("{{\"format\":2}}\n{SENT}"));
    assert_refused(&run.check(&[]), &["history format 2 is unknown"]);
    run.write("history.jsonl", SENT);
    run.write("manifest.json", &MANIFEST.replace("\"format\":1", "\"format\":3"));
    assert_refused(&run.check(&[]), &["manifest format 3 is unknown"]);
    run.write("manifest.json", &MANIFEST.replace("\"seed\":1", "\"seed\":\"one\""));
    assert_refused(&run.check(&[]), &["manifest.json: field `seed`"]);
    run.write("manifest.json", MANIFEST);
    run.write("outcome.json", &OUTCOME.replace("\"format\":1", "\"format\":7"));
    assert_refused(&run.check(&[]), &["outcome format 7 is unknown"]);
}

#[test]
fn a_dump_that_does_not_fit_is_refused() {
    let history = format!("{SENT}{READ}");
    let run = Run::whole(&history);
    run.dump("1.jsonl", |header| header.node = 9);
    assert_refused(&run.check(&[]), &["1.jsonl: field `node`", "no node 9"]);
    let run = Run::whole(&history);
    run.dump("1.jsonl", |header| header.topic = "u".to_owned());
    assert_refused(&run.check(&[]), &["field `topic`", "no topic \"u\""]);
    let run = Run::whole(&history);
    run.dump("1.jsonl", |header| header.epochs.push((1, 0)));
    assert_refused(&run.check(&[]), &["1.jsonl: line 3: field `base_offset`"]);
    let run = Run::whole(&history);
    run.dump("1.jsonl", |header| {
        header.same_as = Some(SameAs { file: "gone.jsonl".into(), to: 1 });
    });
    let output = run.check(&[]);
    assert_eq!(status(&output), 2, "what it shared is gone: {}", text(&output.stdout));
}

#[test]
fn a_dump_takes_over_the_batches_of_another() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.dump("before/1.jsonl.zst", |header| header.moment = Moment::BeforeRestart);
    run.dump("final/1.jsonl.zst", |header| {
        header.same_as = Some(SameAs { file: "before/1.jsonl.zst".into(), to: 1 });
    });
    let output = run.check(&["--json"]);
    assert_eq!(status(&output), 0, "{}", text(&output.stdout));
}

/// A killed harness may leave any of these; the folder is judged, at best unknown.
#[test]
fn files_that_nobody_completed_are_left_out_and_noted() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.dump("1.jsonl.zst", |_| {});
    let whole = fs::read(run.path("dumps/1.jsonl.zst")).expect("it is there");
    let leave: [(&str, &[u8]); 5] = [
        ("dumps/2.jsonl.zst", b""),
        ("dumps/2.jsonl.zst", &whole[..whole.len() - 5]),
        ("dumps/2.jsonl.zst.part", &whole),
        ("metadata.jsonl", b""),
        ("samples.jsonl", b"{\"format\":1,\"kind"),
    ];
    for (name, bytes) in leave {
        fs::write(run.path(name), bytes).expect("a temporary file can be written");
        let output = run.check(&[]);
        let (shown, short) = (text(&output.stdout), name.trim_start_matches("dumps/"));
        assert_eq!(status(&output), 2, "{name}: {shown}{}", text(&output.stderr));
        assert!(shown.contains("evidence is incomplete"), "{name}: {shown}");
        assert_eq!(run.lacks_dumps(), name.starts_with("dumps"), "{name}");
        assert!(shown.contains(&format!("{short}: ")), "{name}: {shown}");
        fs::remove_file(run.path(name)).expect("it is there");
    }
    assert_eq!(status(&run.check(&[])), 0);
    assert!(!run.lacks_dumps());
}

/// A chain is refused wherever its dumps stand in the order of names.
#[test]
fn a_dump_that_refers_to_one_that_refers_on_is_refused() {
    for [first, second, last] in [["1", "2", "3"], ["3", "2", "1"]] {
        let run = Run::whole(&format!("{SENT}{READ}"));
        let refer = |name: &str, to: &str| {
            let same_as = Some(SameAs { file: to.into(), to: 1 });
            run.dump(name, |header| header.same_as = same_as);
        };
        run.dump(last, |_| {});
        refer(second, last);
        refer(first, second);
        assert_refused(&run.check(&[]), &["field `same_as`", "refers on itself"]);
    }
}

#[test]
fn offsets_that_no_log_has_are_refused() {
    for offset in ["-1", "9223372036854775807", "1152921504606846977"] {
        for (history, line) in [(SENT, 2), (READ, 2)] {
            let wrong = history.replace("[0,7]", &format!("[{offset},7]"));
            let run = Run::new(&wrong);
            let output = check(&run.path("history.jsonl"), &[]);
            assert_refused(&output, &[&format!("line {line}"), offset, "is no offset"]);
        }
    }
    let run = Run::whole(&format!("{SENT}{READ}"));
    let header = r#"{"format":1,"kind":"dump","moment":"final","at":9,"node":1,"key":"t-0","#;
    let header = format!("{header}\"topic\":\"t\",\"partition\":0,\"from\":0}}\n");
    let batch = |base: i64, last: i64, more: &str| {
        let ids = r#""epoch":0,"producer_id":-1,"producer_epoch":-1,"sequence":-1,"crc":1"#;
        format!("{{\"base_offset\":{base},\"last_offset\":{last},{ids}{more}}}\n")
    };
    fs::create_dir(run.path("dumps")).expect("a folder can be made");
    for (batch, words) in [
        (batch(-5, 0, ""), ["field `base_offset`", "-5 is no offset"]),
        (batch(0, i64::MAX, ""), ["field `last_offset`", "is no offset"]),
        (batch(0, 4_000_000_000, r#","values":[[0,4000000000,1]]"#), ["last_offset", "longer"]),
        (batch(0, 0, r#","offset_deltas":[7]"#), ["field `offset_deltas`", "7 is outside"]),
    ] {
        run.write("dumps/1.jsonl", &format!("{header}{batch}"));
        assert_refused(&run.check(&[]), &words);
    }
    run.write("dumps/1.jsonl", &header.replace("\"from\":0", "\"from\":-3"));
    assert_refused(&run.check(&[]), &["line 1: field `from`: -3 is no offset"]);
}

/// A verdict on a part of the claims, by other promises or on other evidence is not the run's.
#[test]
fn a_verdict_on_anything_but_the_folder_as_it_stands_is_only_printed() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.dump("1.jsonl.zst", |_| {});
    let (manifest, dumps) = (run.path("manifest.json"), run.path("dumps"));
    let [manifest, dumps] = [&manifest, &dumps].map(|path| path.to_str().expect("a plain name"));
    for (args, note) in [
        (["--claims", "duplicate"], "judged these claims only"),
        (["--promise", "acks=1"], "promised by the user"),
        (["--manifest", manifest], "manifest as given by the user"),
        (["--dumps", dumps], "dumps as given by the user"),
    ] {
        let shown = text(&run.check(&args).stdout);
        assert!(!run.path("verdict.json").exists(), "{args:?}");
        assert!(shown.contains(&format!("note: {note}")), "{args:?}: {shown}");
    }
    let output = run.check(&["--claims", "duplicate,duplicate"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("note: judged these claims only: duplicate\n"), "{shown}");
    run.check(&[]);
    assert!(run.path("verdict.json").exists());
}

#[test]
fn a_claim_that_is_named_twice_counts_once() {
    let run = Run::new(SENT);
    let output = check(&run.path("history.jsonl"), &["--claims", "unseen,unseen", "--json"]);
    let verdict: Verdict = serde_json::from_slice(&output.stdout).expect("a verdict");
    assert_eq!((verdict.claims.len(), verdict.anomalies["unseen"]), (1, 1));
}

#[test]
fn the_verdict_document_is_versioned() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.check(&[]);
    let file = run.path("verdict.json");
    let newer = fs::read_to_string(&file).expect("it is there").replacen("1", "2", 1);
    fs::write(&file, newer).expect("it can be written");
    let why = Verdict::read(&file).expect_err("it is refused").to_string();
    assert!(why.contains("verdict format 2 is unknown"), "{why}");
}

/// A file that is gone is no better than one that was cut.
#[test]
fn files_that_a_complete_run_wrote_are_missed() {
    let outcome = OUTCOME.replace("\"isr\":[1]", "\"isr\":[1],\"replicas\":[1]");
    let outcome = outcome.replace("\"at\":9", "\"at\":9,\"events\":4");
    let run = Run::new(&format!("{SENT}{READ}"));
    run.write("manifest.json", MANIFEST);
    run.write("outcome.json", &outcome);
    let output = run.check(&[]);
    let shown = text(&output.stdout);
    assert_eq!(status(&output), 2, "{shown}");
    for gone in ["metadata.jsonl (it is not there)", "no final dump of t-0 on node 1"] {
        assert!(shown.contains(gone), "{shown}");
    }
    assert!(shown.contains("note: no samples.jsonl"), "{shown}");
    run.write("metadata.jsonl", "{\"format\":1,\"kind\":\"metadata\"}\n");
    run.dump("final/t-0-1.jsonl", |header| header.moment = Moment::BeforeHeal);
    let shown = text(&run.check(&[]).stdout);
    assert!(shown.contains("no final dump of t-0 on node 1"), "{shown}");
    run.dump("final/t-0-1.jsonl", |_| ());
    let output = run.check(&[]);
    assert_eq!(status(&output), 0, "{}", text(&output.stdout));
}

/// A target that gives no dumps wrote none.
#[test]
fn dumps_that_a_target_does_not_give_are_not_missed() {
    let outcome = OUTCOME.replace(",\"final_read_to\":1", ",\"replicas\":[1]");
    let run = Run::new(&format!("{SENT}{READ}"));
    let name = "\"target\":{\"name\":\"node\"";
    run.write("manifest.json", &MANIFEST.replace(name, &format!("{name},\"without\":[\"dumps\"]")));
    run.write("outcome.json", &outcome.replace("\"at\":9", "\"at\":9,\"events\":4"));
    let shown = text(&run.check(&[]).stdout);
    assert!(shown.contains("metadata.jsonl (it is not there)"), "{shown}");
    assert!(!shown.contains("no final dump"), "{shown}");
}

/// The part of a metadata log that is missing may tell of what permits a loss.
#[test]
fn a_metadata_log_that_was_cut_condemns_nobody() {
    let lost = SENT
        .replace("\"index\":0,\"time\":1,", "\"index\":4,\"time\":5,")
        .replace("\"index\":1,\"time\":2,", "\"index\":5,\"time\":6,")
        .replace(",7]", ",8]")
        .replace("[0,8]", "[1,8]");
    let run = Run::whole(&format!("{SENT}{READ}{lost}"));
    run.write("manifest.json", &MANIFEST.replace("\"acks\":\"all\"", "\"acks\":\"1\""));
    run.dump("final/t-0-1.jsonl", |_| ());
    let topic = r#"{"offset":0,"epoch":1,"timestamp_ms":0,"type":"TopicRecord",
"fields":{"name":"t","topicId":"T"}}"#;
    let partition = r#"{"offset":1,"epoch":1,"timestamp_ms":0,"type":"PartitionRecord",
"fields":{"topicId":"T","partitionId":0,"leader":1,"leaderEpoch":0,"isr":[1],"replicas":[1]}}"#;
    let records = [topic, partition].map(|record| record.replace('\n', ""));
    let whole = format!("{{\"format\":1,\"kind\":\"metadata\"}}\n{}\n", records.join("\n"));
    for (metadata, expected) in [(whole.clone(), 1), (format!("{whole}{{\"offset\":2,"), 2)] {
        run.write("metadata.jsonl", &metadata);
        let output = run.check(&[]);
        assert_eq!(status(&output), expected, "{}", text(&output.stdout));
    }
}

/// What a run says that it wrote is missed, also where what is left looks whole.
#[test]
fn files_that_were_shortened_are_missed() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    run.dump("1.jsonl", |_| {});
    let sample = r#"{"asked":1,"answered":2,"node":1,"kind":"silent","error":"no answer"}"#;
    run.write("samples.jsonl", &format!("{{\"format\":1,\"kind\":\"samples\"}}\n{sample}\n"));
    run.write("metadata.jsonl", "{\"format\":1,\"kind\":\"metadata\"}\n");
    let written = |samples: u64, metadata: u64, dumps: u64| {
        let counts = format!(
            r#""at":9,"written":{{"samples":{samples},"metadata":{metadata},"dumps":{dumps}}}"#
        );
        run.write("outcome.json", &OUTCOME.replace("\"at\":9", &counts));
        let output = run.check(&[]);
        (status(&output), text(&output.stdout))
    };
    let (whole, shown) = written(1, 0, 1);
    assert_eq!(whole, 0, "{shown}");
    for (counts, gone) in [
        ((2, 0, 1), "samples.jsonl (1 of 2 samples)"),
        ((1, 7, 1), "metadata.jsonl (0 of 7 records)"),
        ((1, 0, 4), "dumps (1 of 4 files)"),
    ] {
        let (status, shown) = written(counts.0, counts.1, counts.2);
        assert_eq!(status, 2, "{shown}");
        assert!(shown.contains(gone), "{shown}");
    }
}

#[test]
fn a_run_without_its_manifest_is_no_bare_history() {
    let run = Run::whole(&format!("{SENT}{READ}"));
    fs::remove_file(run.path("manifest.json")).expect("it is there");
    let output = run.check(&[]);
    let shown = text(&output.stdout);
    assert_eq!(status(&output), 2, "{shown}");
    assert!(shown.contains("manifest.json (it is not there)"), "{shown}");
}

#[test]
fn operations_of_an_unknown_kind_are_noted() {
    let history = format!("{SENT}{READ}").replace("\"f\":\"poll\"", "\"f\":\"zork\"");
    let run = Run::new(&history);
    let shown = text(&check(&run.path("history.jsonl"), &[]).stdout);
    assert!(shown.contains("note: 1 operation \"zork\": no claim knows what that is"), "{shown}");
}
