//! Reads the batches of a partition's folder, as far as they are whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use highwater_log::batch::{Batch, Batches};

/// The batches of a folder that may hold records from `from` on, in offset order, up to the first
/// that is not whole: the file may be in use, or its process may have died while it wrote.
pub(super) fn batches(folder: &Path, from: i64, mut each: impl FnMut(Batch)) -> io::Result<()> {
    let files = log_files(folder)?;
    for (nth, (_, file)) in files.iter().enumerate() {
        if files.get(nth + 1).is_some_and(|(next, _)| *next <= from) {
            continue;
        }
        let bytes = match fs::read(file) {
            Ok(bytes) => Bytes::from(bytes),
            // A live replica truncated or deleted it since the folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for batch in Batches::new(bytes) {
            match batch {
                Ok(batch) => each(batch),
                Err(_) => return Ok(()),
            }
        }
    }
    Ok(())
}

/// Where the log ends, by its last segment; `None` when it has none.
pub(super) fn end(folder: &Path) -> io::Result<Option<i64>> {
    let mut end = log_files(folder)?.last().map(|(first, _)| *first);
    // Segments that end below are not read: that is all but the last.
    batches(folder, i64::MAX, |batch| end = Some(batch.header().last_offset() + 1))?;
    Ok(end)
}

/// Segment files with their first offsets, which are their names; in this order.
fn log_files(folder: &Path) -> io::Result<Vec<(i64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_log = path.extension().is_some_and(|suffix| suffix == "log");
        let first = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        files.extend(first.filter(|_| is_log).map(|first| (first, path)));
    }
    files.sort();
    Ok(files)
}

/// Bytes in its segment files.
pub(in crate::run) fn bytes(folder: &Path) -> io::Result<u64> {
    let sizes = log_files(folder)?.into_iter().map(|(_, file)| Ok(fs::metadata(file)?.len()));
    sizes.sum()
}

/// The replica's log start offset: the checkpoint's in its log directory, but never below its first
/// segment; `None` when there is neither.
pub(in crate::run) fn log_start(folder: &Path) -> Option<i64> {
    let files = log_files(folder).unwrap_or_default();
    let first = files.first().map(|(first, _)| *first);
    first.max(checkpointed_start(folder))
}

fn checkpointed_start(folder: &Path) -> Option<i64> {
    let (topic, partition) = folder.file_name()?.to_str()?.rsplit_once('-')?;
    let text = fs::read_to_string(folder.parent()?.join("log-start-offset-checkpoint")).ok()?;
    // The first two lines are the format's version and the number of entries.
    text.lines().skip(2).find_map(|line| {
        let start = line.strip_prefix(topic)?.trim_start().strip_prefix(partition)?;
        start.strip_prefix(' ')?.parse().ok()
    })
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

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use tempfile::TempDir;

    use highwater_log::batch::BatchBuilder;

    use super::{batches, end, log_files, log_start};

    fn replica(segments: &[i64]) -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let replica = folder.path().join("my-topic-1");
        fs::create_dir(&replica).unwrap();
        for first in segments {
            fs::write(replica.join(format!("{first:020}.log")), []).unwrap();
        }
        (folder, replica)
    }

    #[test]
    fn segments_that_end_below_the_wanted_offset_are_not_read() {
        let (_folder, replica) = replica(&[0, 10, 20]);
        // What is no file cannot be read: the first segment is not even opened.
        let first = replica.join(format!("{:020}.log", 0));
        fs::remove_file(&first).unwrap();
        fs::create_dir(&first).unwrap();
        assert!(batches(&replica, 0, |_| ()).is_err());
        assert!(batches(&replica, 9, |_| ()).is_err());
        assert!(batches(&replica, 10, |_| ()).is_ok());
    }

    #[test]
    fn the_log_ends_with_the_last_whole_batch_of_its_last_segment() {
        let (_folder, replica) = replica(&[0, 10]);
        assert_eq!(end(&replica).unwrap(), Some(10), "an empty segment");
        let batch =
            |offset| BatchBuilder::new().place(offset, 0).record(5, None, None, &[]).build();
        let mut bytes = [batch(10), batch(11)].concat();
        bytes.truncate(bytes.len() - 1);
        fs::write(replica.join(format!("{:020}.log", 10)), bytes).unwrap();
        assert_eq!(end(&replica).unwrap(), Some(11));
        let none = TempDir::new().unwrap();
        assert_eq!(end(none.path()).unwrap(), None);
    }

    #[test]
    fn a_segment_that_is_gone_again_is_passed_over() {
        let (_folder, replica) = replica(&[0]);
        let dangling = replica.join(format!("{:020}.log", 5));
        std::os::unix::fs::symlink(replica.join("gone"), dangling).unwrap();
        assert_eq!(log_files(&replica).unwrap().len(), 2);
        assert!(batches(&replica, 0, |_| ()).is_ok());
    }

    #[test]
    fn the_log_starts_where_the_checkpoint_says_and_not_below_the_first_segment() {
        let (folder, replica) = replica(&[10, 20]);
        assert_eq!(log_start(&replica), Some(10));
        for (start, wanted) in [(7, 10), (15, 15)] {
            let text = format!("0\n3\nmy-topic 11 99\nmy-topic 1 {start}\nmy 1 98\n");
            fs::write(folder.path().join("log-start-offset-checkpoint"), text).unwrap();
            assert_eq!(log_start(&replica), Some(wanted));
        }
    }
}
