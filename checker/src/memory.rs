//! Judges a history in bounded memory: it is written as columns once, then judged part by part.

use std::{
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::{self, ErrorKind},
    num::NonZeroU64,
    ops::ControlFlow,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process,
    str::FromStr,
};

use highwater_history::{
    FormatError, Key, Verdict,
    ahead::read_ahead,
    columns::{Columns, Op},
    convert::{ConvertError, convert_into},
    event::EventKind,
    reader::{HistoryFile, HistoryFormat, HistoryReader},
};

use crate::{
    evidence::{Evidence, History},
    judge::{CheckError, Options, check, judge_part},
    merge,
    part::Part,
};

/// How much memory what the history says may take at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(NonZeroU64);

/// Units and their bytes.
const UNITS: [(&str, u64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)));
        let bytes = known.and_then(|(number, bytes)| {
            let number: u64 = number.trim_end().parse().ok()?;
            NonZeroU64::new(number.checked_mul(*bytes)?)
        });
        bytes.map(Self).ok_or_else(|| "a size is a number with KiB, MiB or GiB".to_owned())
    }
}

/// Why nothing was judged.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The history cannot be judged at all.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// It cannot be read, or not be written as columns.
    #[error(transparent)]
    Spill(#[from] ConvertError),
    /// No file for it can be made.
    #[error("{}: {said}; TMPDIR says where it goes", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        said: io::Error,
    },
    /// Even the keys one by one need more.
    #[error("--memory: one key by itself needs about {} MiB", .0.div_ceil(1 << 20))]
    TooLittle(u64),
}

impl From<FormatError> for MemoryError {
    fn from(error: FormatError) -> Self {
        Self::Check(error.into())
    }
}

/// The verdict of [`check`], within so much memory and as many parts as that takes.
///
/// # Errors
/// As [`check`], and when there is no room for the columns or too little memory for one key.
pub fn check_within(
    evidence: &mut Evidence,
    options: &Options,
    memory: Memory,
) -> Result<Verdict, MemoryError> {
    let History::File(file) = &evidence.history else { return Ok(check(evidence, options)?) };
    let spill = Spill::of(file)?;
    let parts = spill.size()?.parts(memory)?;
    evidence.history = History::File(spill.history());
    let mut judged = Vec::new();
    for nth in 0..parts {
        let part = Part::new(nth, parts).expect("a part's number is below that of parts");
        judged.push(judge_part(evidence, options, part)?);
    }
    Ok(merge::verdict(evidence, options, judged))
}

/// A history as columns, in a file without a name: nothing is left of it when this process ends,
/// however it ends.
struct Spill {
    file: File,
    is_cut: bool,
}

impl Spill {
    fn of(history: &HistoryFile) -> Result<Self, MemoryError> {
        let folder = env::temp_dir();
        let no_folder = |said| MemoryError::Folder { folder: folder.clone(), said };
        let file = nameless_file(&folder).map_err(no_folder)?;
        let written = file.try_clone().map_err(no_folder)?;
        let converted = convert_into(history, written, &folder)?;
        Ok(Self { file, is_cut: converted.dropped_line.is_some() })
    }

    /// It can be opened as often as it is read for as long as this lives.
    fn history(&self) -> HistoryFile {
        HistoryFile {
            path: format!("/proc/self/fd/{}", self.file.as_raw_fd()).into(),
            format: HistoryFormat::Binary,
            is_cut: self.is_cut,
            is_stream: false,
        }
    }

    fn size(&self) -> Result<Size, FormatError> {
        let mut size = Size::default();
        read_ahead(HistoryReader::open(self.history())?, |columns| {
            size.add(columns);
            ControlFlow::<()>::Continue(())
        })?;
        Ok(size)
    }
}

/// A file in a folder, whose name is gone at once.
fn nameless_file(folder: &Path) -> io::Result<File> {
    for nth in 0.. {
        let name = folder.join(format!("highwater-check-{}-{nth}", process::id()));
        match File::options().read(true).write(true).create_new(true).open(&name) {
            Ok(file) => {
                fs::remove_file(&name)?;
                return Ok(file);
            }
            Err(said) if said.kind() == ErrorKind::AlreadyExists => {}
            Err(said) => return Err(said),
        }
    }
    unreachable!("some number is free")
}

/// How much a history says.
#[derive(Default)]
struct Size {
    operations: u64,
    sends: u64,
    /// Keys of answered polls, each time.
    polled: u64,
    reads: u64,
    keys: BTreeSet<Key>,
}

impl Size {
    // What the index takes for each, rounded up.
    const OPERATION_BYTES: u64 = 72;
    const SEND_BYTES: u64 = 72;
    const POLLED_BYTES: u64 = 24;
    const READ_BYTES: u64 = 8;
    /// Above it the other keys' values are kept in a tree.
    const MOST_SPREAD: u64 = 64;

    fn add(&mut self, columns: &Columns) {
        for row in columns.rows() {
            let is_invoke = row.head.kind == EventKind::Invoke;
            self.operations += u64::from(is_invoke);
            for op in row.ops().unwrap_or_default() {
                match op {
                    Op::Send { .. } => self.sends += u64::from(is_invoke),
                    Op::Poll => {}
                    Op::Polled { from, to } => self.polled += u64::from(to - from),
                }
            }
        }
        self.reads += columns.reads_len() as u64;
        self.keys.extend(columns.keys().iter().cloned());
    }

    /// About what the largest of so many parts takes: its keys' share, every operation that names
    /// one of them, and the bits that it keeps of all other keys' values.
    fn of_part(&self, parts: u64) -> u64 {
        let keys = (self.keys.len() as u64).max(1);
        let share = |of: u64| (of as f64 * keys.div_ceil(parts) as f64 / keys as f64) as u64;
        let operations = share((self.sends + self.polled).max(self.operations));
        let of_keys = self.sends * Self::SEND_BYTES
            + self.polled * Self::POLLED_BYTES
            + self.reads * Self::READ_BYTES;
        // Values that count on over all keys leave one of so many bits set.
        let bits = if parts > 1 { 2 * self.sends * keys.min(Self::MOST_SPREAD) } else { 0 };
        operations.min(self.operations) * Self::OPERATION_BYTES + share(of_keys) + bits / 8
    }

    /// The fewest parts that fit.
    fn parts(&self, Memory(memory): Memory) -> Result<u32, MemoryError> {
        let most = (self.keys.len() as u64).clamp(1, u64::from(u32::MAX));
        let fits = |parts: &u64| self.of_part(*parts) <= memory.get();
        match (1..=most).find(fits) {
            Some(parts) => Ok(parts as u32),
            None => Err(MemoryError::TooLittle(self.of_part(most))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let bytes = |text: &str| text.parse::<Memory>().map(|Memory(bytes)| bytes.get());
        assert_eq!(bytes("2GiB"), Ok(2 << 30));
        assert_eq!(bytes("64 KiB"), Ok(64 << 10));
        for wrong in ["", "7", "0MiB", "2GB", "-1GiB", "99999999999999GiB", "GiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn as_few_parts_as_fit() {
        let keys = (0..20).map(|key| format!("t-{key}").into()).collect();
        let size = Size { operations: 1_000, sends: 1_000, polled: 0, reads: 9_000, keys };
        let parts = |bytes| NonZeroU64::new(bytes).map(|bytes| size.parts(Memory(bytes)).ok());
        let whole = size.of_part(1);
        assert_eq!((parts(whole), parts(whole - 1)), (Some(Some(1)), Some(Some(2))));
        assert_eq!(size.of_part(7), size.of_part(9), "the largest part has three keys of both");
        assert_eq!(parts(size.of_part(20)), Some(Some(20)));
        assert_eq!(parts(size.of_part(20) - 1), Some(None), "there are no more parts than keys");
    }
}
