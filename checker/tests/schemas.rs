//! The schemas of docs/schema: what is written validates, what validates can be read, and what they
//! refuse is refused by the programs too.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use highwater_checker::{Evidence, Options, check, evidence::Instead};
use highwater_history::{
    Event, FormatError, Manifest, Outcome, RunFolder, Verdict,
    dumps::DumpBatch,
    format::Document,
    lines::{Line, Lines},
    metadata::MetadataRecord,
    reader::HistoryReader,
    samples::Sample,
};
use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Each schema.
const NAMES: [&str; 7] =
    ["history", "manifest", "samples", "dump", "metadata", "outcome", "verdict"];

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(relative)
}

fn text(file: &Path) -> String {
    let mut text = String::new();
    let read = match file.extension().is_some_and(|suffix| suffix == "zst") {
        true => zstd::Decoder::new(File::open(file).expect("the file is there"))
            .and_then(|mut unpacked| unpacked.read_to_string(&mut text)),
        false => File::open(file).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn schema(name: &str) -> Validator {
    let schema = json(&text(&path(&format!("docs/schema/{name}.json"))));
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name} is a schema");
    jsonschema::draft202012::new(&schema).expect("a schema can be used")
}

fn assert_valid(schema: &Validator, value: &Value, whose: &str) {
    let errors: Vec<_> = schema.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{whose}: {}\n{value}", errors.join("; "));
}

/// Whether a whole text is a file of lines.
fn has_lines(name: &str) -> bool {
    ["history", "samples", "dump", "metadata"].contains(&name)
}

/// What a text of this kind holds: its lines, or itself.
fn values(name: &str, text: &str) -> Vec<Value> {
    if has_lines(name) { text.lines().map(json).collect() } else { vec![json(text)] }
}

/// The page's examples of one kind.
fn examples(name: &str) -> Vec<Value> {
    let page = text(&path("docs/formats.md"));
    let head = format!("```{} {name}\n", if has_lines(name) { "jsonl" } else { "json" });
    let examples = page.split(&head).skip(1);
    let bodies = examples.map(|rest| rest.split("```").next().expect("an example ends"));
    let found: Vec<Value> = bodies.flat_map(|body| values(name, body)).collect();
    assert!(!found.is_empty(), "the page shows {name}");
    found
}

/// What the program says of a value, as the file that it would stand in.
fn read(folder: &TempDir, name: &str, value: &Value) -> Result<(), String> {
    fn lines<L: Line>(file: &Path) -> Result<(), FormatError> {
        Lines::<L>::read(file).map(drop)
    }
    let header = match name {
        _ if value.get("format").is_some() => None,
        "samples" | "metadata" => Some(json!({"format": 1, "kind": name})),
        "dump" => Some(examples("dump").remove(0)),
        _ => None,
    };
    let header = header.map_or_else(String::new, |header| format!("{header}\n"));
    let file = folder.path().join("file");
    fs::write(&file, format!("{header}{value}\n")).expect("a temporary file can be written");
    let read = match name {
        "history" => HistoryReader::open(&file)
            .and_then(|reader| reader.collect::<Result<Vec<Event>, _>>().map(drop)),
        "manifest" => Manifest::read(&file).map(drop),
        "outcome" => Outcome::read(&file).map(drop),
        "verdict" => Verdict::read(&file).map(drop),
        "samples" => lines::<Sample>(&file),
        "dump" => lines::<DumpBatch>(&file),
        _ => lines::<MetadataRecord>(&file),
    };
    read.map_err(|error| error.to_string())
}

#[test]
fn every_schema_is_linked_and_every_example_validates() {
    let page = text(&path("docs/formats.md"));
    let files = fs::read_dir(path("docs/schema")).expect("the schemas can be listed");
    assert_eq!(files.count(), NAMES.len());
    for name in NAMES {
        assert!(page.contains(&format!("(schema/{name}.json)")), "the page links {name}");
        let schema = schema(name);
        for value in examples(name) {
            assert_valid(&schema, &value, name);
        }
    }
}

#[test]
fn the_corpus_and_its_verdicts_validate() {
    let schemas = NAMES.map(schema);
    let validate = |name: &str, file: &Path| {
        let nth = NAMES.iter().position(|known| *known == name).expect("a schema");
        let values = values(name, &text(file));
        values.iter().for_each(|value| {
            assert_valid(&schemas[nth], value, &file.display().to_string());
        });
        values.len()
    };
    let mut lines = 0;
    for run in fs::read_dir(path("checker/testdata/corpus")).expect("the corpus can be listed") {
        let folder = RunFolder::new(run.expect("an entry").path());
        for (name, file) in [
            ("history", folder.history_path()),
            ("samples", folder.samples_path()),
            ("metadata", folder.metadata_path()),
            ("manifest", folder.manifest_path()),
            ("outcome", folder.outcome_path()),
        ] {
            lines += validate(name, &file);
        }
        for dump in fs::read_dir(folder.dumps_path()).expect("dumps can be listed") {
            lines += validate("dump", &dump.expect("an entry").path());
        }
        let evidence = Evidence::load(folder.path(), &Instead::default()).expect("it is read");
        for promise in ["", "acks=1", "flush.messages=1"] {
            let mut options = Options::default();
            if !promise.is_empty() {
                options.promise.set(promise).expect("it can be promised");
            }
            let verdict = check(&evidence, &options).expect("it is judged");
            let verdict = serde_json::to_value(&verdict).expect("JSON");
            assert_valid(&schemas[6], &verdict, &folder.path().display().to_string());
        }
    }
    assert!(lines > 10_000, "{lines} lines");
}

#[test]
fn what_a_schema_refuses_the_program_refuses() {
    let folder = TempDir::new().expect("a folder");
    let table = text(&path("checker/testdata/schema/refuses.txt"));
    let kinds: Vec<(&str, &str)> =
        table.split("== ").skip(1).filter_map(|kind| kind.split_once('\n')).collect();
    assert_eq!(kinds.iter().map(|(name, _)| *name).collect::<Vec<_>>(), NAMES);
    for (name, texts) in kinds {
        let schema = schema(name);
        assert!(texts.lines().count() > 1, "{name}");
        for text in texts.lines() {
            assert!(!schema.is_valid(&json(text)), "{name}: the schema takes {text}");
            assert!(read(&folder, name, &json(text)).is_err(), "{name}: the program takes {text}");
        }
    }
}

/// A value with one part of it gone or another, for each part.
fn mutants(value: &Value) -> Vec<Value> {
    fn parts(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, part)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                found.push(format!("{at}/{name}"));
                parts(part, &format!("{at}/{name}"), found);
            }),
            Value::Array(list) => list.iter().enumerate().for_each(|(nth, part)| {
                found.push(format!("{at}/{nth}"));
                parts(part, &format!("{at}/{nth}"), found);
            }),
            _ => {}
        }
    }
    let mut found = Vec::new();
    parts(value, "", &mut found);
    let mut mutants = Vec::new();
    for at in found {
        for other in [json!(true), json!("x"), json!(-3), json!({}), json!([]), json!(null)] {
            let mut mutant = value.clone();
            *mutant.pointer_mut(&at).expect("it is there") = other;
            mutants.push(mutant);
        }
        let mut mutant = value.clone();
        let (parent, name) = at.rsplit_once('/').expect("a part has a parent");
        match mutant.pointer_mut(parent).expect("it is there") {
            Value::Object(fields) => drop(fields.remove(name)),
            Value::Array(list) => drop(list.remove(name.parse().expect("a number"))),
            _ => unreachable!("only these have parts"),
        }
        mutants.push(mutant);
    }
    mutants
}

/// Whoever validates what he writes can have it judged.
#[test]
fn what_validates_can_be_read() {
    let folder = TempDir::new().expect("a folder");
    for name in NAMES {
        let schema = schema(name);
        let mutants: Vec<Value> = examples(name).iter().flat_map(mutants).collect();
        let (mut taken, mut refused) = (0, 0);
        for mutant in &mutants {
            match schema.is_valid(mutant) {
                true => {
                    taken += 1;
                    let read = read(&folder, name, mutant);
                    read.unwrap_or_else(|why| panic!("{name}: {why}\n{mutant}"));
                }
                false => refused += 1,
            }
        }
        assert!(taken > 10 && refused > 10, "{name}: {taken} taken, {refused} refused");
    }
}
