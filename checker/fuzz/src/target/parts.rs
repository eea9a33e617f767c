//! Part files, and the verdict that they make together.

use highwater_checker::{
    cli::VERSION,
    shard::{Shard, merge_files},
};

use super::{
    folder::{Folder, several},
    judge,
};

/// Stands in an input for the version of this program, without which no part is merged.
const THIS: &[u8] = b"THIS";

/// Reads part files and merges them.
pub fn run(bytes: &[u8]) {
    let folder = Folder::new();
    let mut files = Vec::new();
    for (nth, part) in several(bytes).iter().enumerate() {
        let file = folder.write(&format!("{nth}.json"), &of_this_version(part));
        if let Ok(shard) = Shard::load(&file) {
            let again = folder.file("again.json");
            shard.save(&again).expect("what was read can be written");
            Shard::load(&again).expect("what was written can be read");
        }
        files.push(file);
    }
    if let Ok(verdict) = merge_files(&files) {
        judge::no_claim_crashed(&verdict);
    }
}

fn of_this_version(part: &[u8]) -> Vec<u8> {
    let Some(at) = part.windows(THIS.len()).position(|four| four == THIS) else {
        return part.to_vec();
    };
    [&part[..at], VERSION.as_bytes(), &part[at + THIS.len()..]].concat()
}
