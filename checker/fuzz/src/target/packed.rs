//! Packed files: the first byte says how, and of what; the rest is the file.

use highwater_history::{format::Document, lines::Lines, manifest::Manifest, samples::Sample};

use super::{folder::Folder, history};

/// Reads a packed file.
pub fn run(bytes: &[u8]) {
    let Some((how, packed)) = bytes.split_first() else { return };
    let suffix = if how & 1 == 0 { "gz" } else { "zst" };
    let folder = Folder::new();
    match (how >> 1) % 5 {
        0 => drop(Lines::<Sample>::read(&folder.write(&format!("samples.{suffix}"), packed))),
        1 => drop(Manifest::read(&folder.write(&format!("manifest.{suffix}"), packed))),
        2 => {
            let file = folder.write(&format!("h.edn.{suffix}"), packed);
            history::read(&file.as_path().into());
        }
        _ => {
            let file = folder.write(&format!("h.jsonl.{suffix}"), packed);
            history::read(&file.as_path().into());
        }
    }
}
