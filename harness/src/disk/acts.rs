//! Does to the files what a power loss decided.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{DiskError, power::Act};

/// Does them in order; `kept` is where replaced files stand.
///
/// # Errors
/// When the system refuses one.
pub(super) fn carry_out(acts: &[Act], kept: &Path) -> Result<(), DiskError> {
    for act in acts {
        let (path, done) = one(act, kept);
        done.map_err(DiskError::at(path))?;
    }
    Ok(())
}

fn one(act: &Act, kept: &Path) -> (PathBuf, io::Result<()>) {
    match act {
        Act::Remove(path) => (path.clone(), remove(path)),
        Act::Rename(from, to) => (from.clone(), fs::rename(from, to)),
        Act::Restore(inode, to) => {
            let old = kept.join(inode.to_string());
            (to.clone(), fs::rename(old, to))
        }
        Act::Cut(path, size) => {
            let file = File::options().write(true).open(path);
            (path.clone(), file.and_then(|file| file.set_len(*size)))
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
