//! Reads the batches of a partition's folder, as far as they are whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use highwater_log::batch::{Batch, Batches};

/// The batches of a folder in offset order, up to the first that is not whole: the file may be in
/// use, or its process may have died while it wrote.
pub(super) fn batches(folder: &Path, mut each: impl FnMut(Batch)) -> io::Result<()> {
    for file in log_files(folder)? {
        let bytes = Bytes::from(fs::read(&file)?);
        for batch in Batches::new(bytes) {
            match batch {
                Ok(batch) => each(batch),
                Err(_) => return Ok(()),
            }
        }
    }
    Ok(())
}

/// Segment files, whose names are their first offsets.
fn log_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|suffix| suffix == "log") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The pairs of epoch and first offset in `leader-epoch-checkpoint`; none when it is not there.
pub(super) fn epochs(folder: &Path) -> Vec<(i32, i64)> {
    let text = fs::read_to_string(folder.join("leader-epoch-checkpoint")).unwrap_or_default();
    let pair = |line: &str| {
        let (epoch, start) = line.split_once(' ')?;
        Some((epoch.parse().ok()?, start.parse().ok()?))
    };
    // The first two lines are the format's version and the number of pairs.
    text.lines().skip(2).filter_map(pair).collect()
}
