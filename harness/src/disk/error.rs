//! Why a node's disk could not be watched, cut or disturbed.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::cluster::NodeId;

/// A failure around a node's disk.
#[derive(Debug, Error)]
pub enum DiskError {
    /// The shim is not there; `advice` says what to do.
    #[error("{what} not found, and the schedule has a fault that needs it: {advice}")]
    Missing {
        /// What is missing.
        what: String,
        /// How to get it.
        advice: String,
    },
    /// A file or folder could not be read or changed.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the journal is none that the shim writes.
    #[error("{path}: line {line} is no line of a disk journal: {text}")]
    Malformed {
        /// The journal.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// The node's process has never loaded the shim.
    #[error("node {node} does not load {library}: is its program linked statically?")]
    NotLoaded {
        /// The node.
        node: NodeId,
        /// The library's name.
        library: &'static str,
    },
    /// The shim could not write into its journal.
    #[error("the disk journal of node {node} lacks {lines} lines: is the disk full?")]
    LinesLost {
        /// The node.
        node: NodeId,
        /// How many.
        lines: u64,
    },
    /// Two faults want the same.
    #[error("another fault disturbs the disk of node {node} in the same way")]
    Held {
        /// The node.
        node: NodeId,
    },
}

impl DiskError {
    /// Says of which file the system spoke.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DiskError {
        let path = path.into();
        move |source| DiskError::File { path, source }
    }
}
