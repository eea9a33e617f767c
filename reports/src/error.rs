//! Why a report cannot be made.

use std::{io, path::PathBuf};

use highwater_history::FormatError;

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The folder holds no verdict.
    #[error(
        "{}: not judged yet, there is no verdict.json; run `highwater check` on it first",
        .0.display()
    )]
    NotJudged(PathBuf),
    /// A file of the folder is not what it should be.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A report file cannot be written.
    #[error("{}: cannot write the report: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The JUnit file cannot be put into words that XML allows.
    #[error("junit.xml cannot be made: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}
