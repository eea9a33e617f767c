//! Reads every example of docs/formats.md with the types that programs use, and writes it back.

use std::{fs, path::PathBuf};

use highwater_history::{
    Event, Manifest, Outcome, Verdict,
    convert::convert,
    dumps::DumpBatch,
    format::Document,
    journal::{Act, JournalEntry, left_to_heal},
    lines::{Line, LineWriter, Lines},
    metadata::MetadataRecord,
    outcome::Ended,
    reader::{HistoryFormat, HistoryReader},
    samples::Sample,
};
use serde_json::Value;
use tempfile::TempDir;

/// Fenced examples of the page: (language and format, text).
fn examples() -> Vec<(String, String)> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = fs::read_to_string(page).expect("docs/formats.md is there");
    let mut fences = text.split("```").skip(1).step_by(2);
    let mut examples = Vec::new();
    while let Some((head, body)) = fences.next().and_then(|fence| fence.split_once('\n')) {
        examples.push((head.to_owned(), body.to_owned()));
    }
    examples
}

fn examples_of(kind: &str) -> Vec<String> {
    let found: Vec<_> = examples().into_iter().filter(|(head, _)| head == kind).collect();
    assert!(!found.is_empty(), "the page shows {kind}");
    found.into_iter().map(|(_, body)| body).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the text is JSON")
}

fn file_with(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let file = folder.path().join(name);
    fs::write(&file, text).expect("a temporary file can be written");
    file
}

fn check_document<D: Document>(kind: &str) {
    for text in examples_of(kind) {
        let folder = TempDir::new().expect("a temporary folder");
        let file = file_with(&folder, "document.json", &text);
        let document = D::read(&file).expect("the example is read");
        document.write(&file).expect("the document is written");
        let written = fs::read_to_string(&file).expect("what was written is there");
        assert_eq!(json(&written), json(&text), "{kind}");
        let future = text.replacen("\"format\": 1", "\"format\": 9", 1);
        let file = file_with(&folder, "future.json", &future);
        let why = D::read(&file).err().expect("a future version is refused").to_string();
        assert!(why.contains(&format!("{} format 9 is unknown", D::WHAT)), "{why}");
    }
}

fn check_lines<L: Line + std::fmt::Debug>(kind: &str)
where
    L::Header: std::fmt::Debug,
{
    for text in examples_of(kind) {
        let folder = TempDir::new().expect("a temporary folder");
        let file = file_with(&folder, "lines.jsonl", &text);
        let read: Lines<L> = Lines::read(&file).expect("the example is read");
        for name in ["again.jsonl", "again.jsonl.zst", "again.jsonl.gz"] {
            let again = folder.path().join(name);
            let mut writer = LineWriter::create(&again, &read.header).expect("a file is created");
            for line in &read.lines {
                writer.write(line).expect("a line is written");
            }
            writer.finish().expect("the file is completed");
            let back: Lines<L> = Lines::read(&again).expect("what was written is read");
            let plain = |lines: &Lines<L>| {
                let lines: Vec<Value> =
                    lines.lines.iter().map(|l| serde_json::to_value(l).expect("JSON")).collect();
                lines
            };
            let shown: Vec<Value> = text.lines().skip(1).map(json).collect();
            assert_eq!(plain(&back), shown, "{kind}");
        }
        let written = fs::read_to_string(folder.path().join("again.jsonl")).expect("it is there");
        let header = |text: &str| json(text.lines().next().expect("a header"));
        assert_eq!(header(&written), header(&text), "{kind}");
        refuse_lines::<L>(&folder, &text);
    }
}

fn refuse_lines<L: Line>(folder: &TempDir, text: &str) {
    let refusal = |name: &str, text: &str| {
        let file = file_with(folder, name, text);
        Lines::<L>::read(&file).err().expect("it is refused").to_string()
    };
    let future = text.replacen("\"format\":1", "\"format\":9", 1);
    let why = refusal("future.jsonl", &future);
    assert!(why.contains(&format!("{} format 9 is unknown", L::KIND)), "{why}");
    let other = text.replacen("\"kind\":\"", "\"kind\":\"x-", 1);
    assert!(refusal("other.jsonl", &other).contains("line 1: field `kind`"));
    let broken = text.replacen('\n', "\n{\"half\n", 1);
    assert!(refusal("broken.jsonl", &broken).contains("broken.jsonl: line 2: "));
    assert!(refusal("empty.jsonl", "").contains("without a header"));
    assert!(
        Lines::<L>::read_if_begun(&file_with(folder, "empty.jsonl", ""))
            .expect("it is read")
            .is_none()
    );
    let cut = &text[..text.trim_end().len() - 1];
    let file = file_with(folder, "cut.jsonl", cut);
    let read: Lines<L> = Lines::read(&file).expect("a cut file is read");
    assert_eq!(read.dropped.as_deref(), cut.lines().last());
    assert_eq!(read.lines.len(), text.lines().count() - 2);
}

#[test]
fn manifest() {
    check_document::<Manifest>("json manifest");
}

#[test]
fn outcome() {
    check_document::<Outcome>("json outcome");
}

#[test]
fn verdict() {
    check_document::<Verdict>("json verdict");
}

#[test]
fn samples() {
    check_lines::<Sample>("jsonl samples");
}

#[test]
fn dumps() {
    check_lines::<DumpBatch>("jsonl dump");
}

#[test]
fn metadata() {
    check_lines::<MetadataRecord>("jsonl metadata");
}

#[test]
fn journal() {
    check_lines::<JournalEntry>("jsonl journal");
    let folder = TempDir::new().expect("a temporary folder");
    let file = file_with(&folder, "journal.jsonl", &examples_of("jsonl journal")[0]);
    let journal: Lines<JournalEntry> = Lines::read(&file).expect("the example is read");
    let left = left_to_heal(&journal.lines);
    assert_eq!(left.keys().copied().collect::<Vec<_>>(), [1, 3, 4], "act 2 was undone");
    assert!(matches!(&left[&1], Act::Process(process) if process.pid == 4242));
}

#[test]
fn history() {
    for text in examples_of("jsonl history") {
        let folder = TempDir::new().expect("a temporary folder");
        let file = file_with(&folder, "history.jsonl", &text);
        let events: Vec<Event> = HistoryReader::open(&file)
            .expect("the example opens")
            .map(|event| event.expect("the example is read"))
            .collect();
        let written: Vec<Value> =
            events.iter().map(|event| serde_json::to_value(event).expect("JSON")).collect();
        assert_eq!(written, text.lines().map(json).collect::<Vec<_>>());
    }
}

#[test]
fn jepsens_history() {
    for text in examples_of("edn history") {
        let folder = TempDir::new().expect("a temporary folder");
        let edn = file_with(&folder, "history.edn", &text);
        let [ours, back] = ["ours.jsonl", "back.edn"].map(|name| folder.path().join(name));
        convert(&(&edn).into(), &ours, HistoryFormat::Jsonl).expect("the example is read");
        convert(&(&ours).into(), &back, HistoryFormat::Edn).expect("what was read is written");
        let written = fs::read_to_string(&back).expect("what was written is there");
        // An error with a text beside its code is a map.
        let wanted = text.replace(
            r#":rebalance-log [{:keys [0 1]}], :error [:timeout "2 s"]"#,
            r#":error {:code "timeout", :said ["2 s"]}, :rebalance-log [{:keys [0 1]}]"#,
        );
        assert_eq!(written, wanted);
    }
}

/// The last one would win, and another reader may take the first.
#[test]
fn a_field_that_stands_twice_is_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let refusal = |kind: &str, from: &str, to: &str| {
        let text = examples_of(kind).remove(0);
        assert!(text.contains(from), "{kind} shows {from}");
        let file = file_with(&folder, "twice.json", &text.replacen(from, to, 1));
        let refused = match kind {
            "json manifest" => Manifest::read(&file).map(drop),
            "json outcome" => Outcome::read(&file).map(drop),
            "json verdict" => Verdict::read(&file).map(drop),
            "jsonl samples" => Lines::<Sample>::read(&file).map(drop),
            "jsonl dump" => Lines::<DumpBatch>::read(&file).map(drop),
            _ => Lines::<MetadataRecord>::read(&file).map(drop),
        };
        refused.expect_err("it is refused").to_string()
    };
    for (kind, from, to, why) in [
        ("json manifest", "\"seed\": 7", "\"seed\": 7, \"seed\": 8", "json: `seed` stands twice"),
        (
            "json manifest",
            "\"node.id\": \"1\"",
            "\"node.id\": \"1\", \"node.id\": \"2\"",
            "field `target.nodes[0].properties`: `node.id` stands twice",
        ),
        (
            "json outcome",
            "\"wait_status\"",
            "\"wait_status\": 1, \"wait_status\"",
            "field `faults[0].proof`: `wait_status` stands twice",
        ),
        (
            "json verdict",
            "\"lost-write\": 1",
            "\"lost-write\": 1, \"lost-write\": 2",
            "field `anomalies`: `lost-write` stands twice",
        ),
        ("jsonl samples", "\"hw\":12", "\"hw\":12,\"hw\":13", "line 2: `hw` stands twice"),
        ("jsonl dump", "\"node\":2", "\"node\":2,\"node\":3", "line 1: `node` stands twice"),
        ("jsonl dump", "\"crc\":7", "\"crc\":7,\"crc\":8", "line 3: `crc` stands twice"),
        (
            "jsonl metadata",
            "\"leader\":1",
            "\"leader\":1,\"leader\":2",
            "line 3: field `fields`: `leader` stands twice",
        ),
    ] {
        let said = refusal(kind, from, to);
        assert!(said.contains(why), "{why:?} is not in {said:?}");
    }
}

#[test]
fn a_manifest_that_is_wrong_names_the_field() {
    let text = examples_of("json manifest").remove(0);
    let folder = TempDir::new().expect("a temporary folder");
    let wrong = text.replace("\"session_ms\": 1500", "\"session_ms\": \"soon\"");
    let file = file_with(&folder, "manifest.json", &wrong);
    let why = Manifest::read(&file).expect_err("it is refused").to_string();
    assert!(why.contains("field `timing.session_ms`"), "{why}");
    let file = file_with(&folder, "manifest.json", "{\"seed\": 1}");
    let why = Manifest::read(&file).expect_err("it is refused").to_string();
    assert!(why.contains("missing field `format`"), "{why}");
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("outcome.json");
    fs::create_dir(&file).expect("a folder in its place");
    let outcome = Outcome::new(Ended::Complete, 1);
    outcome.write(&file).expect_err("a folder is no file");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("it can be listed").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
