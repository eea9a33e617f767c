//! What the log needs of a file system: one log directory, reached by relative paths.

mod error;
mod mem;
#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use error::{DiskError, DiskErrorKind};
pub use mem::{MemDisk, MemFile};

/// How [`Disk::open`] treats a file that exists or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// The file must exist.
    Existing,
    /// The file is created empty if it does not exist.
    Create,
    /// The file is created if need be, and emptied.
    Empty,
}

/// Size of the volume that holds the directory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// All of it.
    pub total: u64,
    /// What this process may still write.
    pub usable: u64,
}

/// One log directory. Paths are relative to it, with `/` between their parts; the directory itself
/// is the empty path. Nothing is durable before the file, and the directory that names it, were
/// synced.
pub trait Disk {
    /// An open file.
    type File;

    /// Opens a file for reading and appending.
    fn open(&mut self, path: &str, mode: OpenMode) -> Result<Self::File, DiskError>;
    /// Adds bytes at the end of the file. After an error any prefix of them may have been added.
    fn append(&mut self, file: &Self::File, bytes: &[u8]) -> Result<(), DiskError>;
    /// Reads `length` bytes from position `at`; fewer when the file ends before.
    fn read(&mut self, file: &Self::File, at: u64, length: usize) -> Result<Bytes, DiskError>;
    /// The file's length in bytes.
    fn length(&mut self, file: &Self::File) -> Result<u64, DiskError>;
    /// Cuts the file to `length` bytes, which it must have.
    fn truncate(&mut self, file: &Self::File, length: u64) -> Result<(), DiskError>;
    /// Makes the file's content and length durable.
    fn sync(&mut self, file: &Self::File) -> Result<(), DiskError>;
    /// Creates a directory; not an error if it exists.
    fn create_dir(&mut self, path: &str) -> Result<(), DiskError>;
    /// Makes creations, renames and removals in a directory durable.
    fn sync_dir(&mut self, path: &str) -> Result<(), DiskError>;
    /// Renames a file, replacing what has the new name, or a directory.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError>;
    /// Removes a file; not an error if it does not exist.
    fn remove(&mut self, path: &str) -> Result<(), DiskError>;
    /// Removes a directory with all that is in it; not an error if it does not exist.
    fn remove_dir(&mut self, path: &str) -> Result<(), DiskError>;
    /// The names in a directory, in order of their bytes.
    fn list(&mut self, path: &str) -> Result<Vec<Entry>, DiskError>;
    /// The size of the volume, where it is known.
    fn volume(&mut self) -> Option<Volume>;
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The last part of its path.
    pub name: String,
    /// True for a directory.
    pub is_dir: bool,
}
