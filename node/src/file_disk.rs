//! A log directory in the file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use highwater_broker::log::disk::{Disk, DiskError, DiskErrorKind, Entry, OpenMode, Volume};
use nix::sys::statvfs::statvfs;
use rustix::{
    buffer::spare_capacity,
    io::{Errno, pread},
};

/// A directory; the paths of [`Disk`] are relative to it.
#[derive(Debug)]
pub struct FileDisk {
    root: PathBuf,
}

/// An open file, with its path for error messages.
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    path: String,
}

impl FileDisk {
    /// The disk in this directory, which must exist.
    pub fn new(root: &Path) -> FileDisk {
        FileDisk { root: root.to_owned() }
    }

    fn path(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }
}

impl Disk for FileDisk {
    type File = DiskFile;

    fn open(&mut self, path: &str, mode: OpenMode) -> Result<DiskFile, DiskError> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(mode != OpenMode::Existing);
        let file = options.open(self.path(path)).map_err(|error| failed("open", path, &error))?;
        if mode == OpenMode::Empty {
            file.set_len(0).map_err(|error| failed("empty", path, &error))?;
        }
        Ok(DiskFile { file, path: path.to_owned() })
    }

    fn append(&mut self, file: &DiskFile, bytes: &[u8]) -> Result<(), DiskError> {
        let written = (&file.file).write_all(bytes);
        written.map_err(|error| failed("append to", &file.path, &error))
    }

    fn read(&mut self, file: &DiskFile, at: u64, length: usize) -> Result<Bytes, DiskError> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let from = at + bytes.len() as u64;
            // What is read goes where nobody zeroed before.
            match pread(&file.file, spare_capacity(&mut bytes), from) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed("read", &file.path, &error.into())),
            }
        }
        bytes.truncate(length);
        Ok(bytes.into())
    }

    fn length(&mut self, file: &DiskFile) -> Result<u64, DiskError> {
        let metadata = file.file.metadata();
        metadata.map(|metadata| metadata.len()).map_err(|e| failed("look at", &file.path, &e))
    }

    fn truncate(&mut self, file: &DiskFile, length: u64) -> Result<(), DiskError> {
        file.file.set_len(length).map_err(|error| failed("truncate", &file.path, &error))
    }

    fn sync(&mut self, file: &DiskFile) -> Result<(), DiskError> {
        file.file.sync_data().map_err(|error| failed("sync", &file.path, &error))
    }

    fn create_dir(&mut self, path: &str) -> Result<(), DiskError> {
        fs::create_dir_all(self.path(path)).map_err(|error| failed("create", path, &error))
    }

    fn sync_dir(&mut self, path: &str) -> Result<(), DiskError> {
        let synced = File::open(self.path(path)).and_then(|dir| dir.sync_all());
        synced.map_err(|error| failed("sync", path, &error))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let renamed = fs::rename(self.path(from), self.path(to));
        renamed.map_err(|error| failed("rename", from, &error))
    }

    fn remove(&mut self, path: &str) -> Result<(), DiskError> {
        unless_missing(fs::remove_file(self.path(path)), path)
    }

    fn remove_dir(&mut self, path: &str) -> Result<(), DiskError> {
        unless_missing(fs::remove_dir_all(self.path(path)), path)
    }

    fn list(&mut self, path: &str) -> Result<Vec<Entry>, DiskError> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok(Entry { name, is_dir: entry.file_type()?.is_dir() })
        };
        let entries = fs::read_dir(self.path(path));
        let listed = entries.and_then(|entries| entries.map(entry).collect::<io::Result<Vec<_>>>());
        let mut entries = listed.map_err(|error| failed("list", path, &error))?;
        entries.sort();
        Ok(entries)
    }

    fn volume(&mut self) -> Option<Volume> {
        let stat = statvfs(&self.root).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.fragment_size());
        Some(Volume { total: bytes(stat.blocks()), usable: bytes(stat.blocks_available()) })
    }
}

fn unless_missing(done: io::Result<()>, path: &str) -> Result<(), DiskError> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(|error| failed("remove", path, &error)),
    }
}

fn failed(action: &'static str, path: &str, error: &io::Error) -> DiskError {
    let kind = match error.kind() {
        ErrorKind::NotFound => DiskErrorKind::NotFound,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DiskErrorKind::NoSpace,
        _ => DiskErrorKind::Io,
    };
    let path = if path.is_empty() { "the log directory" } else { path };
    DiskError { kind, action, path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests;
