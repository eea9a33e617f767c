//! A folder that is there for one input.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A folder, removed with all that is in it.
pub struct Folder(TempDir);

impl Folder {
    /// An empty one.
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder can be made"))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where a file of it is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let file = self.file(name);
        fs::write(&file, bytes).expect("a temporary file can be written");
        file
    }
}

/// The parts of an input that holds several files: they are separated by an empty line.
pub fn several(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut files = vec![Vec::new()];
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match files.last_mut() {
            Some(file) if line != b"\n" => file.extend_from_slice(line),
            _ => files.push(Vec::new()),
        }
    }
    files
}
