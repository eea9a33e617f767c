//! A small run folder, of which one file is the input: it is judged with all else in place.

use std::fs;

use highwater_checker::{Evidence, check, evidence::Instead};
use highwater_history::{
    format::Document,
    lines::{Line, LineWriter, Lines},
};

use super::{folder::Folder, judge};

const FILES: [(&str, &str); 5] = [
    ("manifest.json", include_str!("../../run/manifest.json")),
    ("outcome.json", include_str!("../../run/outcome.json")),
    ("history.jsonl", include_str!("../../run/history.jsonl")),
    ("samples.jsonl", include_str!("../../run/samples.jsonl")),
    ("metadata.jsonl", include_str!("../../run/metadata.jsonl")),
];

/// Dumps by name.
pub const DUMPS: [(&str, &str); 7] = [
    ("1.jsonl", include_str!("../../run/dumps/1.jsonl")),
    ("2.jsonl", include_str!("../../run/dumps/2.jsonl")),
    ("3.jsonl", include_str!("../../run/dumps/3.jsonl")),
    ("4.jsonl", include_str!("../../run/dumps/4.jsonl")),
    ("5.jsonl", include_str!("../../run/dumps/5.jsonl")),
    ("6.jsonl", include_str!("../../run/dumps/6.jsonl")),
    ("7.jsonl", include_str!("../../run/dumps/7.jsonl")),
];

/// The folder.
pub fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in FILES {
        folder.write(name, text.as_bytes());
    }
    fs::create_dir(folder.file("dumps")).expect("a temporary folder can be made");
    for (name, text) in DUMPS {
        folder.write(&format!("dumps/{name}"), text.as_bytes());
    }
    folder
}

/// Judges the folder with one file instead of its own.
pub fn judge_with(name: &str, bytes: &[u8]) {
    let folder = folder();
    folder.write(name, bytes);
    judge(&folder);
}

/// Judges the folder, unless its evidence is refused.
pub fn judge(folder: &Folder) {
    let Ok(evidence) = Evidence::load(folder.path(), &Instead::default()) else { return };
    if let Ok(verdict) = check(&evidence, &judge::all_claims()) {
        judge::no_claim_crashed(&verdict);
    }
}

/// A document that is accepted is the same after it was written.
pub fn document<D: Document + PartialEq>(bytes: &[u8]) {
    let folder = Folder::new();
    let Ok(read) = D::read(&folder.write("a.json", bytes)) else { return };
    let again = folder.file("b.json");
    read.write(&again).expect("what was read can be written");
    assert!(D::read(&again).expect("what was written can be read") == read);
}

/// Lines that are accepted are the same after they were written.
pub fn lines<L: Line + PartialEq>(bytes: &[u8]) -> Option<Lines<L>>
where
    L::Header: PartialEq,
{
    let folder = Folder::new();
    let read = Lines::<L>::read(&folder.write("a.jsonl", bytes)).ok()?;
    let file = folder.file("b.jsonl");
    let mut again = LineWriter::create(&file, &read.header).expect("a file can be made");
    for line in &read.lines {
        again.write(line).expect("what was read can be written");
    }
    again.finish().expect("a file can be completed");
    let again = Lines::<L>::read(&file).expect("what was written can be read");
    assert!(again.header == read.header && again.lines == read.lines);
    Some(read)
}
