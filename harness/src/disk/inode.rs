//! Which file or folder it is, whatever its name.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

/// An inode of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inode {
    /// The file system's number.
    pub device: u64,
    /// The inode's number.
    pub number: u64,
}

impl Inode {
    pub(super) fn of(metadata: &Metadata) -> Inode {
        Inode { device: metadata.dev(), number: metadata.ino() }
    }

    /// Another inode of the same file system.
    pub(super) fn beside(self, number: u64) -> Inode {
        Inode { number, ..self }
    }
}
