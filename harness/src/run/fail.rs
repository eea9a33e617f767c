//! Why a run could not be carried through.

use std::path::Path;

use thiserror::Error;

use super::setup::BadOption;
use crate::cluster::ClusterError;
use crate::process::Exit;
use crate::target::TargetError;

/// What ends a run before its verdict.
#[derive(Debug, Error)]
pub enum Failure {
    /// An option or a file is wrong: exit status 64.
    #[error("{0}")]
    Usage(#[from] BadOption),
    /// The harness failed, not the target: exit status 70.
    #[error("{0}")]
    Harness(String),
    /// Somebody asked to stop: exit status 130.
    #[error("interrupted; everything was healed")]
    Interrupted,
}

macro_rules! harness_failures {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::Harness(error.to_string())
            }
        })*
    };
}

/// The status by which our node refuses its configuration (sysexits' EX_USAGE, as our own).
const REFUSED: Exit = Exit::Code(64);

impl From<ClusterError> for Failure {
    /// A node that refuses what it was given was given a wrong option: its sentence is the reason.
    fn from(error: ClusterError) -> Self {
        match &error {
            ClusterError::Died { exit: REFUSED, folder, .. } => match last_words(folder) {
                Some(said) => Failure::Usage(BadOption(said)),
                None => Failure::Harness(error.to_string()),
            },
            ClusterError::Target(TargetError::Refused(why)) => {
                Failure::Usage(BadOption(why.clone()))
            }
            _ => Failure::Harness(error.to_string()),
        }
    }
}

impl From<TargetError> for Failure {
    /// What the target does not take was given by an option: its sentence is the reason.
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Refused(why) => Failure::Usage(BadOption(why)),
            error => Failure::Harness(error.to_string()),
        }
    }
}

/// The last line that a node's first process wrote on standard error.
fn last_words(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("stderr.0.log")).ok()?;
    text.lines().last().map(str::to_owned)
}

harness_failures!(
    crate::cluster::PlanError,
    crate::disk::DiskError,
    crate::journal::JournalError,
    crate::proxy::NetError,
    highwater_checker::CheckError,
    highwater_history::FormatError,
    highwater_history::recorder::RecordError,
    highwater_reports::ReportError,
    std::io::Error,
);
