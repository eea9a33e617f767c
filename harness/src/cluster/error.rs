//! Why an act on a node failed.

use std::{io, path::PathBuf};

use thiserror::Error;

use super::NodeId;
use crate::{
    disk::DiskError,
    journal::JournalError,
    process::{Exit, SpawnError},
    target::TargetError,
};

/// A failure of the harness, or of the target to start.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// The plan has no such node.
    #[error("node {0} is not part of this cluster")]
    NoSuchNode(NodeId),
    /// The act needs a running process.
    #[error("node {0} has no running process")]
    Down(NodeId),
    /// The act needs a node without a process.
    #[error("node {0} already has a running process")]
    Up(NodeId),
    /// The cluster was ended for good; faults that heal late start nobody.
    #[error("node {0} is not started: the cluster was ended")]
    Closed(NodeId),
    /// The node ended before it served.
    #[error("node {node} ended with {exit} before it was ready; its output is in {folder}")]
    Died {
        /// The node.
        node: NodeId,
        /// How.
        exit: Exit,
        /// Where its output is.
        folder: PathBuf,
    },
    /// The node did not serve in time.
    #[error("node {node} was not ready within {within_ms} ms; its output is in {folder}")]
    NotReady {
        /// The node.
        node: NodeId,
        /// How long it was given.
        within_ms: u64,
        /// Where its output is.
        folder: PathBuf,
    },
    /// A signal was refused.
    #[error("cannot signal node {node}: {source}")]
    Signal {
        /// The node.
        node: NodeId,
        /// What the system said.
        source: io::Error,
    },
    /// The process could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The journal could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A disk could not be watched or cut.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The target could not be prepared.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl ClusterError {
    /// Whether it tells of the target and not of the harness: a node that did not come to serve.
    #[must_use]
    pub fn is_the_targets(&self) -> bool {
        matches!(self, Self::Died { .. } | Self::NotReady { .. })
    }
}
