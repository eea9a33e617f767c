//! Why a run could not be carried through.

use thiserror::Error;

use super::setup::BadOption;

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

harness_failures!(
    crate::cluster::ClusterError,
    crate::cluster::PlanError,
    crate::journal::JournalError,
    crate::proxy::NetError,
    crate::target::TargetError,
    highwater_checker::CheckError,
    highwater_history::FormatError,
    highwater_history::recorder::RecordError,
    highwater_reports::ReportError,
    std::io::Error,
);
