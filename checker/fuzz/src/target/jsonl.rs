//! A history of JSON lines: both readers agree, and what is read can be written and read again.

use super::{folder::Folder, history};

/// Reads a history.
pub fn run(bytes: &[u8]) {
    let folder = Folder::new();
    let file = folder.write("h.jsonl", bytes).as_path().into();
    let told = history::read(&file);
    if told.end.is_ok() {
        history::converted(&file, &told, &folder.file("again.jsonl"));
        history::converted(&file, &told, &folder.file("h.hwh"));
    }
}
