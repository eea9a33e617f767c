//! A folder of dumps, read as a whole: every dump with the batches that it shares with another.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    dumps::{DumpBatch, DumpHeader},
    format::FormatError,
    lines::{Lines, is_unfinished},
    types::{Offset, check_offset},
};

/// A dump and where it stands, relative to the folder.
pub type DumpFile = (PathBuf, WholeDump);

/// A whole dump.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeDump {
    /// Which replica's, and when.
    pub header: DumpHeader,
    /// Its batches in offset order; replicas that are alike share them.
    pub lines: Arc<Vec<DumpBatch>>,
}

impl WholeDump {
    fn of(read: Lines<DumpBatch>) -> WholeDump {
        let mut lines = read.lines;
        lines.shrink_to_fit();
        WholeDump { header: read.header, lines: Arc::new(lines) }
    }
}

/// The dumps of a folder and of all folders in it.
#[derive(Clone, Debug, Default)]
pub struct DumpFolder {
    /// Every whole dump, by name; `same_as` is resolved.
    pub dumps: Vec<DumpFile>,
    /// Dumps that were left out because nobody completed them, or one that they refer to.
    pub incomplete: Vec<PathBuf>,
}

impl DumpFolder {
    /// Reads every dump.
    ///
    /// # Errors
    /// For a file that is no dump, a broken line that is not the last, and a `same_as` that cannot
    /// be followed.
    pub fn read(folder: &Path) -> Result<Self, FormatError> {
        let mut files = Vec::new();
        list_files(folder, &mut files).map_err(|source| FormatError::io(folder, source))?;
        files.sort();
        let mut read = Self::default();
        for file in files {
            let name = file.strip_prefix(folder).unwrap_or(&file).to_owned();
            let dump = match is_unfinished(&file) {
                true => None,
                false => Lines::read_if_begun(&file)?.filter(|dump| dump.dropped.is_none()),
            };
            match dump {
                Some(dump) => {
                    check_header(&file, &dump.header)?;
                    check_order(&file, &dump.lines)?;
                    read.dumps.push((name, WholeDump::of(dump)));
                }
                None => read.incomplete.push(name),
            }
        }
        read.leave_out_referrers();
        read.resolve_same_as(folder)?;
        Ok(read)
    }

    /// How many whole dumps a folder has.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn count(folder: &Path) -> Result<u64, FormatError> {
        let mut files = Vec::new();
        list_files(folder, &mut files).map_err(|source| FormatError::io(folder, source))?;
        Ok(files.iter().filter(|file| !is_unfinished(file)).count() as u64)
    }

    /// A dump that shares batches with one that is incomplete or gone is incomplete itself.
    fn leave_out_referrers(&mut self) {
        let whole: BTreeSet<PathBuf> = self.dumps.iter().map(|(name, _)| name.clone()).collect();
        let refers = |(_, dump): &mut DumpFile| {
            dump.header.same_as.as_ref().is_some_and(|same| !whole.contains(&same.file))
        };
        let left_out = self.dumps.extract_if(.., refers).map(|(name, _)| name);
        self.incomplete.extend(left_out);
    }

    /// Gives a dump the batches that it shares with another one.
    fn resolve_same_as(&mut self, folder: &Path) -> Result<(), FormatError> {
        let at: BTreeMap<PathBuf, usize> =
            self.dumps.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        let mut shares = Vec::new();
        for (nth, (name, dump)) in self.dumps.iter().enumerate() {
            let Some(same) = &dump.header.same_as else { continue };
            let other = at[&same.file];
            let of_other = &self.dumps[other].1.header;
            let wrong = if of_other.same_as.is_some() {
                Some("refers on itself")
            } else if of_other.key != dump.header.key {
                Some("is a dump of another key")
            } else {
                None
            };
            if let Some(wrong) = wrong {
                let why = format!("field `same_as`: {} {wrong}", same.file.display());
                return Err(FormatError::document(&folder.join(name), why));
            }
            shares.push((nth, other, same.to));
        }
        for (nth, other, to) in shares {
            let shared = Arc::clone(&self.dumps[other].1.lines);
            let (name, dump) = &mut self.dumps[nth];
            dump.lines = joined(shared, (dump.header.from, to), &dump.lines);
            check_order(&folder.join(name), &dump.lines)?;
            dump.header.same_as = None;
        }
        Ok(())
    }
}

/// The batches of another dump within a range, then a dump's own.
fn joined(
    other: Arc<Vec<DumpBatch>>,
    (from, to): (Offset, Offset),
    own: &[DumpBatch],
) -> Arc<Vec<DumpBatch>> {
    let is_shared = |batch: &&DumpBatch| batch.last_offset >= from && batch.base_offset < to;
    if own.is_empty() && other.iter().all(|batch| is_shared(&batch)) {
        return other;
    }
    Arc::new(other.iter().filter(is_shared).chain(own).cloned().collect())
}

fn check_header(file: &Path, header: &DumpHeader) -> Result<(), FormatError> {
    let shared_to = header.same_as.as_ref().map(|same| same.to);
    let told = [
        ("from", Some(header.from)),
        ("log_start", header.log_start),
        ("hw", header.hw),
        ("same_as.to", shared_to),
    ];
    for (field, offset) in told {
        if let Some(Err(why)) = offset.map(check_offset) {
            let why = format!("field `{field}`: {why}");
            return Err(FormatError::Line { file: file.to_owned(), line: 1, why });
        }
    }
    Ok(())
}

/// Refuses a dump whose batches do not follow on each other.
fn check_order(file: &Path, batches: &[DumpBatch]) -> Result<(), FormatError> {
    let mut next: Offset = 0;
    for (nth, batch) in batches.iter().enumerate() {
        if batch.base_offset < next || batch.last_offset < batch.base_offset {
            let why = format!(
                "field `base_offset`: a batch of {} to {} after offset {}",
                batch.base_offset,
                batch.last_offset,
                next - 1
            );
            let line = nth as u64 + 2;
            return Err(FormatError::Line { file: file.to_owned(), line, why });
        }
        next = batch.end();
    }
    Ok(())
}

fn list_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list_files(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        } else {
            let why = format!("{} is no regular file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
    }
    Ok(())
}
