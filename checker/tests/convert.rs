//! A history means the same in every format: verdicts before and after, and `highwater-convert`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use highwater_checker::{Evidence, Options, Verdict, check, evidence::Instead};
use highwater_history::{
    Event, EventValue, Key, RunFolder,
    convert::convert,
    event::{Ack, EventError, EventKind, Function, MicroOp, Process, ReadRecord, Rebalance},
    reader::{HistoryFile, HistoryFormat, HistoryReader},
    recorder::Recorder,
};
use proptest::{collection::vec, option, prelude::*};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn converted(from: &Path, to: PathBuf) -> PathBuf {
    let format = HistoryFormat::named(&to).expect("the suffix is known");
    convert(&HistoryFile::from(from), &to, format).expect("the history is converted");
    to
}

fn judged(history: &Path) -> Verdict {
    let evidence = Evidence::load(history, &Instead::default()).expect("the history is there");
    check(&evidence, &Options::default()).expect("it is judged")
}

fn events(history: &Path) -> Vec<Event> {
    let reader = HistoryReader::open(history).expect("the history opens");
    reader.collect::<Result<_, _>>().expect("whole events")
}

/// The histories of real runs, judged alone: two thirds of what is in them is unknown to Jepsen.
#[test]
fn real_histories_lose_nothing_and_keep_their_verdict() {
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/corpus");
    let temporary = folder();
    let mut runs = 0;
    for run in fs::read_dir(corpus).expect("the corpus can be listed") {
        let ours = RunFolder::new(run.expect("an entry").path()).history_path();
        let edn = converted(&ours, temporary.path().join("history.edn.zst"));
        let binary = converted(&edn, temporary.path().join("history.hwh"));
        let back = converted(&binary, temporary.path().join("history.jsonl.zst"));
        assert!(events(&ours) == events(&back), "{}", ours.display());
        let verdict = judged(&ours);
        assert!(verdict.counts.acknowledged > 0, "{}", ours.display());
        assert_eq!(judged(&edn), verdict, "{}", ours.display());
        assert_eq!(judged(&binary), verdict, "{}", ours.display());
        assert_eq!(judged(&back), verdict, "{}", ours.display());
        runs += 1;
    }
    assert!(runs > 20, "{runs} runs");
}

/// An offset, if it was told, and a value.
type Read = (Option<i64>, i64);

/// One operation of a random history: what is sent where and how that ends, or what is read.
#[derive(Clone, Debug)]
struct Step {
    process: u64,
    kind: EventKind,
    sends: Vec<(u8, Option<i64>)>,
    reads: Option<Vec<(u8, Vec<Read>)>>,
    assigns: Option<(Function, Vec<u8>, bool)>,
    rebalanced: Option<u8>,
}

fn any_step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        6 => Just(EventKind::Ok), 1 => Just(EventKind::Fail), 1 => Just(EventKind::Info)
    ];
    let record = (option::weighted(0.9, 0..8_i64), 0..12_i64);
    let reads = vec((0..3_u8, vec(record, 0..4)), 0..3).prop_map(|mut keys| {
        keys.sort();
        keys.dedup_by_key(|(key, _)| *key);
        keys
    });
    let assign = prop_oneof![Just(Function::Assign), Just(Function::Subscribe)];
    let assigns = option::weighted(0.1, (assign, vec(0..3_u8, 0..3), any::<bool>()));
    let sends = vec((0..3_u8, option::weighted(0.8, 0..8_i64)), 0..3);
    let rebalanced = option::weighted(0.1, 0..3_u8);
    (0..3_u64, kind, sends, option::of(reads), assigns, rebalanced).prop_map(
        |(process, kind, sends, reads, assigns, rebalanced)| Step {
            process,
            kind,
            sends,
            reads,
            assigns,
            rebalanced,
        },
    )
}

/// Writes invocations and completions; values are dense over all keys.
fn record(file: &Path, steps: &[Step], name: fn(u8) -> Key) {
    let mut recorder = Recorder::create(file).expect("a history is created");
    let mut next_value = 0;
    let mut time = 0;
    for step in steps {
        let first_value = next_value;
        for kind in [EventKind::Invoke, step.kind] {
            next_value = first_value;
            time += 10;
            let (f, value) = step_value(step, kind, &mut next_value, name);
            let process = Process::Client(step.process);
            let mut event = Event::new(time, process, kind, f).with_value(value);
            event.seek_to_beginning = matches!(&step.assigns, Some((.., true)));
            if kind != EventKind::Invoke {
                let moved =
                    |key| vec![Rebalance { keys: vec![name(key)], extra: Default::default() }];
                event.rebalance_log = step.rebalanced.map(moved);
            }
            if matches!(kind, EventKind::Fail | EventKind::Info) {
                event.error = Some(EventError::code("TIMEOUT"));
            }
            recorder.append(&mut event).expect("an event is appended");
        }
    }
    recorder.flush().expect("the history is flushed");
}

fn step_value(
    step: &Step,
    kind: EventKind,
    next_value: &mut i64,
    name: fn(u8) -> Key,
) -> (Function, EventValue) {
    if let Some((f, keys, _)) = &step.assigns {
        return (f.clone(), EventValue::Keys(keys.iter().map(|key| name(*key)).collect()));
    }
    let mut ops = Vec::new();
    for (key, offset) in &step.sends {
        let ack = match (kind, offset) {
            (EventKind::Ok | EventKind::Info, Some(offset)) => Ack::At(*offset),
            (EventKind::Ok, None) => Ack::Unknown,
            _ => Ack::None,
        };
        ops.push(MicroOp::Send { key: name(*key), value: *next_value, ack });
        *next_value += 1;
    }
    if let Some(reads) = &step.reads {
        let records = (kind != EventKind::Invoke).then(|| {
            let record = |(offset, value): &Read| ReadRecord(*offset, *value);
            let of =
                |(key, read): &(u8, Vec<Read>)| (name(*key), read.iter().map(record).collect());
            reads.iter().map(of).collect()
        });
        ops.push(MicroOp::Poll { records });
    }
    (Function::Txn, EventValue::Ops(ops))
}

proptest! {
    #[test]
    fn random_histories_keep_their_verdict(
        steps in vec(any_step(), 1..25),
        name in prop_oneof![
            Just::<fn(u8) -> Key>(|n| Key::of("t", n.into())),
            Just::<fn(u8) -> Key>(|n| Key::of(["t", "a b", "\"é"][usize::from(n)], 7)),
        ],
    ) {
        let temporary = folder();
        let ours = temporary.path().join("history.jsonl");
        record(&ours, &steps, name);
        let edn = converted(&ours, temporary.path().join("history.edn"));
        let back = converted(&edn, temporary.path().join("back.jsonl"));
        prop_assert_eq!(fs::read(&ours).unwrap(), fs::read(&back).unwrap());
        prop_assert_eq!(judged(&edn), judged(&ours));
    }
}

fn run(binary: &str, args: &[&Path]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(binary).args(args).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (status.code(), text(stdout), text(stderr))
}

const CONVERT: &str = env!("CARGO_BIN_EXE_highwater-convert");
const CHECK: &str = env!("CARGO_BIN_EXE_highwater-check");

/// A lost record, as Jepsen prints it: 1 is acknowledged at 0, a later one is read, it never is.
const LOST: &str = "
{:type :invoke, :f :send, :value [[:send 3 1]], :time 1, :process 0, :index 0}
{:type :ok, :f :send, :value [[:send 3 [0 1]]], :time 2, :process 0, :index 1}
{:type :info, :f :start-kill, :value :primaries, :time 3, :process :nemesis, :index 2}
{:type :invoke, :f :txn, :value [[:send 3 2] [:poll]], :time 4, :process 0, :index 3}
{:type :ok, :f :txn, :value [[:send 3 [2 2]] [:poll {}]], :time 5, :process 0, :index 4}
{:type :invoke, :f :poll, :value [[:poll]], :poll-ms 1000, :time 6, :process 1, :index 5}
{:type :ok, :f :poll, :value [[:poll {3 [[2 2]]}]], :poll-ms 1000, :time 7, :process 1, :index 6}
{:type :invoke, :f :crash, :value nil, :time 8, :process 1, :index 7}
{:type :info, :f :crash, :value nil, :time 9, :process 1, :index 8}
";

#[test]
fn the_checker_finds_in_edn_what_jepsen_does() {
    let temporary = folder();
    let edn = temporary.path().join("history.edn");
    fs::write(&edn, LOST).expect("it can be written");
    let (status, shown, _) = run(CHECK, &[&edn]);
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("1 lost-write") && shown.contains("1 unseen"), "{shown}");
    let other_name = temporary.path().join("history.txt");
    fs::rename(&edn, &other_name).expect("it can be renamed");
    let (status, _, why) = run(CHECK, &[&other_name]);
    assert_eq!(status, Some(64), "it is no JSON: {why}");
    let named = [&*other_name, Path::new("--format"), Path::new("jepsen-edn")];
    assert_eq!(run(CHECK, &named).1, shown);
}

#[test]
fn the_program_ends_with_the_status_of_its_table() {
    let temporary = folder();
    let path = |name: &str| temporary.path().join(name);
    let (edn, jsonl) = (path("history.edn"), path("history.jsonl.gz"));
    fs::write(&edn, LOST).expect("it can be written");
    let (status, _, said) = run(CONVERT, &[&edn, &jsonl]);
    assert!(said.ends_with("history.jsonl.gz\n") && said.contains(": 9 events in "), "{said}");
    assert_eq!(status, Some(0));
    assert_eq!(run(CHECK, &[&jsonl]).0, Some(1));
    fs::write(&edn, LOST.replacen("[0 1]", "[0 :a]", 1)).expect("it can be written");
    for (from, to, why) in [
        (&edn, &jsonl, "history.edn: line 3: field `value`: the value of a record must be a whole"),
        (&path("none.edn"), &jsonl, "none.edn: No such file"),
        (
            &edn,
            &path("a.txt"),
            "a.txt: a history ends in .jsonl or .edn, also with .gz or .zst, or in .hwh",
        ),
        (&path("a.json"), &jsonl, "a.json: a history ends in .jsonl or .edn"),
        (&jsonl, &path("no/a.edn"), "no/a.edn: No such file"),
    ] {
        let (status, _, said) = run(CONVERT, &[from, to]);
        assert_eq!(status, Some(64), "{said}");
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(run(CONVERT, &[&edn]).0, Some(64), "a file is missing");
    assert_eq!(run(CHECK, &[&jsonl]).0, Some(1), "what was there is as it was");
    fs::write(&edn, &LOST[..LOST.len() - 9]).expect("it can be written");
    let (status, _, said) = run(CONVERT, &[&edn, &jsonl]);
    assert!(status == Some(0) && said.contains("was cut at line 10, and so is this"), "{said}");
}
