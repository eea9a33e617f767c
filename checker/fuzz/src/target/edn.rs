//! A history of Jepsen's: both readers agree, and what is read survives in our formats and back.

use super::{folder::Folder, history};

/// Reads a history.
pub fn run(bytes: &[u8]) {
    let folder = Folder::new();
    let file = folder.write("h.edn", bytes).as_path().into();
    let told = history::read(&file);
    if told.end.is_ok() {
        let ours = history::converted(&file, &told, &folder.file("h.jsonl"));
        let told = history::read(&ours);
        history::converted(&ours, &told, &folder.file("again.edn"));
    }
}
