//! Folders for what is only tried before a run; `heal` clears those that a killed harness left.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What names of such folders begin with.
const PREFIX: &str = "highwater-tried-";

/// A folder that goes when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one; `id` is an id that no other run of this machine has.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(id: &str) -> Result<Scratch, (PathBuf, io::Error)> {
        let path = folder().join(format!("{PREFIX}{id}"));
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(Scratch(path)),
            Err(error) => Err((path, error)),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed from there is no harm to the run.
        let _left = fs::remove_dir_all(&self.0);
    }
}

/// Where such folders stand.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::temp_dir()
}

/// Every such folder, in order of name.
#[must_use]
pub fn all(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(PREFIX))
    };
    let mut found: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(is_one);
    found.sort();
    found
}
