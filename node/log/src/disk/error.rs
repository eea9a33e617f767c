//! Why a disk operation failed.

use thiserror::Error;

/// The kinds of failure that a caller tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskErrorKind {
    /// The path does not exist.
    NotFound,
    /// The volume is full, or the quota is used up.
    NoSpace,
    /// Anything else: the device failed, or permission is missing.
    Io,
}

/// A failed disk operation.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot {action} {path}: {reason}")]
pub struct DiskError {
    /// What a caller can act on.
    pub kind: DiskErrorKind,
    /// The operation, as a verb.
    pub action: &'static str,
    /// The path within the log directory.
    pub path: String,
    /// The system's words.
    pub reason: String,
}
