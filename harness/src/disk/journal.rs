//! The shim's journal, read.

use std::{ffi::OsString, fs, os::unix::ffi::OsStringExt, path::Path};

use super::{
    DiskError,
    inode::Inode,
    layout::{END, letter},
};

/// One line: what was done to a file or folder, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// A process began.
    Process,
    /// So many bytes of the file are durable, and its name is.
    Synced(Inode, u64),
    /// The folder's entries are durable.
    Folder(Inode),
    /// The file is cut to so many bytes.
    Truncated(Inode, u64),
    /// A new file or folder.
    Created(Inode, Name),
    /// Another name of a file.
    Linked(Inode, Name),
    /// Another name instead of the one it had; what had that name before has lost it.
    Renamed(Inode, Move),
    /// A name is removed.
    Unlinked(Inode, Name),
    /// What is written to the file from now on is not seen.
    Mapped(Inode),
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// The folder.
    pub folder: Inode,
    /// The name in it.
    pub name: OsString,
}

/// From one name to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    /// The old name.
    pub from: Name,
    /// The new name.
    pub to: Name,
    /// What had the new name before.
    pub replaced: Option<Inode>,
}

/// Reads a journal.
///
/// # Errors
/// When it cannot be read, or a line is malformed that no kill can have cut short.
pub(super) fn read(path: &Path) -> Result<Vec<Record>, DiskError> {
    let bytes = fs::read(path).map_err(DiskError::at(path))?;
    parse(&bytes).map_err(|line| {
        let text = bytes.split(|byte| *byte == b'\n').nth(line - 1).unwrap_or_default();
        let text = String::from_utf8_lossy(text).into_owned();
        DiskError::Malformed { path: path.to_owned(), line, text }
    })
}

/// The records, or the number of the first line that is none. A process that was killed may leave
/// half a line: then it is the last, or the next one says that another process began.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Record>, usize> {
    let mut records = Vec::new();
    let mut torn = None;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
    for (line, number) in lines {
        if line == b"\n" {
            continue;
        }
        let record = line.strip_suffix(END).and_then(record);
        match (record, torn) {
            (Some(Record::Process), _) => torn = None,
            (_, Some(torn)) => return Err(torn),
            (Some(record), None) => records.push(record),
            (None, None) => torn = Some(number),
        }
    }
    Ok(records)
}

fn record(line: &[u8]) -> Option<Record> {
    let mut words = Words(line);
    let [letter] = words.next()? else { return None };
    if *letter == letter::PROCESS {
        return Some(Record::Process);
    }
    let inode = Inode { device: words.number()?, number: words.number()? };
    let record = match *letter {
        letter::SYNCED => Record::Synced(inode, words.number()?),
        letter::DIRECTORY => Record::Folder(inode),
        letter::TRUNCATED => Record::Truncated(inode, words.number()?),
        letter::CREATED => Record::Created(inode, words.name(inode)?),
        letter::LINKED => Record::Linked(inode, words.name(inode)?),
        letter::RENAMED => Record::Renamed(inode, words.renaming(inode)?),
        letter::UNLINKED => Record::Unlinked(inode, words.name(inode)?),
        letter::MAPPED => Record::Mapped(inode),
        _ => return None,
    };
    words.0.is_empty().then_some(record)
}

/// What is left of a line.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == b' ').unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest.strip_prefix(b" ").unwrap_or(rest);
        (!word.is_empty()).then_some(word)
    }

    fn number(&mut self) -> Option<u64> {
        std::str::from_utf8(self.next()?).ok()?.parse().ok()
    }

    fn rest(&mut self) -> Option<&'a [u8]> {
        let rest = std::mem::take(&mut self.0);
        (!rest.is_empty()).then_some(rest)
    }

    fn name(&mut self, inode: Inode) -> Option<Name> {
        let folder = inode.beside(self.number()?);
        Some(Name { folder, name: text(self.rest()?) })
    }

    fn renaming(&mut self, inode: Inode) -> Option<Move> {
        let (from, to) = (inode.beside(self.number()?), inode.beside(self.number()?));
        let replaced = Some(self.number()?).filter(|number| *number != 0);
        let names = self.rest()?;
        let slash = names.iter().position(|byte| *byte == b'/')?;
        let (old, new) = (names.get(..slash)?, names.get(slash + 1..)?);
        let name = |folder, name| Name { folder, name: text(name) };
        let replaced = replaced.map(|number| inode.beside(number));
        Some(Move { from: name(from, old), to: name(to, new), replaced })
    }
}

fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// A journal in which these files are durable to their full lengths.
pub(super) fn baseline(files: impl IntoIterator<Item = (Inode, u64)>) -> Vec<u8> {
    let mut lines = Vec::new();
    for (inode, size) in files {
        let Inode { device, number } = inode;
        let line = format!(" {device} {number} {size}");
        lines.extend([&[letter::SYNCED], line.as_bytes(), END].concat());
    }
    lines
}
