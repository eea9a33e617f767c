//! What a user reads about a file that cannot be used: one sentence with file, line and field.

use std::{fs, path::Path};

use highwater_history::{
    FormatError, Manifest, Outcome, dumps::DumpBatch, format::Document, lines::Lines,
    reader::HistoryReader, samples::Sample,
};
use tempfile::TempDir;

/// Compares what is said of a text, behind the file's name. In it `|` stands for a line's end and
/// `~` for a byte that is no text.
fn check(read: impl Fn(&Path) -> Option<FormatError>, table: &[(&str, &str)]) {
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("file");
    for (text, sentence) in table {
        let byte = |byte| match byte {
            b'|' => b'\n',
            b'~' => 0xff,
            other => other,
        };
        let bytes: Vec<u8> = text.bytes().map(byte).collect();
        fs::write(&file, bytes).expect("a temporary file can be written");
        let why = read(&file).expect("it is refused").to_string();
        assert_eq!(why, format!("{}: {sentence}", file.display()), "{text}");
    }
}

#[test]
fn of_a_history() {
    let read = |file: &Path| {
        HistoryReader::open(file).and_then(|mut events| events.try_for_each(|e| e.map(drop))).err()
    };
    let table = [
        ("oops|", "line 1: expected value (column 1)"),
        ("|", "line 1: it is empty"),
        ("{|", "line 1: EOF while parsing an object"),
        ("{}|", "line 1: field `index`: missing (column 2)"),
        (r#"{"format":1}|~|"#, "line 2: it is no text: byte 1 is not UTF-8"),
        (r#"{"format":"1"}|"#, r#"line 1: field `format`: "1", expected a number"#),
        (r#"{"format":1,"kind":7}|"#, r#"line 1: field `kind`: "7", expected "history""#),
        (
            r#"{"index":-1}|"#,
            "line 1: field `index`: invalid value: integer `-1`, expected u64 (column 11)",
        ),
        ("[1]|", "line 1: invalid type: sequence, expected a history event, one JSON object"),
        (
            r#"{"process":1,"f":"send","value":[[1,2]]}|"#,
            "line 1: field `value`: invalid type: integer `1`, expected a string (column 35)",
        ),
        (
            r#"{"process":1,"f":"poll","value":[["poll",{"t-0":[[1]]}]]}|"#,
            "line 1: field `value`: invalid length 1, expected [offset, value] (column 52)",
        ),
        (
            r#"{"leader_epochs":{"t-0":[[1]]}}|"#,
            "line 1: field `leader_epochs`: invalid length 1, expected [first offset, leader \
             epoch] (column 28)",
        ),
    ];
    check(read, &table);
}

#[test]
fn of_samples() {
    let table = [
        ("", "the file is empty, without a header"),
        (r#"{"a":1}|"#, "line 1: missing field `format` (column 7)"),
        (r#"{"format":1,"kind":"dump"}|"#, r#"line 1: field `kind`: "dump", expected "samples""#),
        (r#"{"format":1,"kind":"samples"}|~|"#, "line 2: it is no text: byte 1 is not UTF-8"),
        (
            r#"{"format":1,"kind":"samples"}|{"hw":"x"}|"#,
            r#"line 2: field `hw`: invalid type: string "x", expected i64 (column 9)"#,
        ),
        (
            r#"{"format":1,"kind":"samples"}|{"kind":"x"}|"#,
            "line 2: field `kind`: unknown variant `x`, expected one of `replica`, `partition`, \
             `silent` (column 11)",
        ),
        (
            r#"{"format":1,"kind":"samples"}|{"asked":1,"answered":1,"node":1,"kind":"silent"}|"#,
            "line 2: field `error`: missing",
        ),
    ];
    check(|file| Lines::<Sample>::read(file).err(), &table);
}

#[test]
fn of_a_dump() {
    let table = [(
        r#"{"format":1,"kind":"dump","moment":"x"}|"#,
        "line 1: field `moment`: unknown variant `x`, expected one of `before-restart`, \
         `before-heal`, `final` (column 38)",
    )];
    check(|file| Lines::<DumpBatch>::read(file).err(), &table);
}

#[test]
fn of_documents() {
    let table = [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("~", "it is no text: byte 1 is not UTF-8"),
        (r#"{"format":1|"seed":7}"#, "expected `,` or `}` at line 2 column 1"),
        (r#"{"format":1,"seed":[}"#, "field `seed`: expected value at line 1 column 21"),
    ];
    check(|file| Manifest::read(file).err(), &table);
    let table = [(
        r#"{"format":1,"ended":"x"}"#,
        "field `ended`: unknown variant `x`, expected one of `complete`, `interrupted`, \
         `failed` at line 1 column 23",
    )];
    check(|file| Outcome::read(file).err(), &table);
}

/// What the system says stands once, also where causes are told behind what they caused.
#[test]
fn of_a_file_that_is_not_there() {
    let error = Manifest::read("/nowhere/x".as_ref()).expect_err("it is not there");
    assert_eq!(error.to_string(), "/nowhere/x: No such file or directory (os error 2)");
    assert!(std::error::Error::source(&error).is_none());
}
