//! How a fault ended: installed with proof, skipped, or indeterminate (design 4).

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::{disk::DiskError, fault::Active, target::BoxFuture};

/// How a fault ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "ending", rename_all = "kebab-case")]
pub enum Ending {
    /// It acted, and this proves it.
    Installed {
        /// What was seen: wait statuses, withheld bytes, epochs.
        proof: Value,
    },
    /// It was not tried.
    Skipped {
        /// Why, in one sentence.
        reason: String,
    },
    /// It was tried, and nothing proves that it acted.
    Indeterminate {
        /// What was looked for in vain.
        reason: String,
    },
}

/// A fault that is over by the time it is installed.
pub struct Done {
    /// Whom it hit and how.
    pub what: Value,
    /// How it ended.
    pub ending: Ending,
}

impl Active for Done {
    fn describe(&self) -> Value {
        self.what.clone()
    }

    fn heal(self: Box<Self>) -> BoxFuture<'static, Result<Ending, NotInstalled>> {
        Box::pin(async move { Ok(self.ending) })
    }
}

/// Why a fault did not come into force.
#[derive(Debug, Error)]
pub enum NotInstalled {
    /// It has nothing to act on now; the run goes on.
    #[error("skipped: {0}")]
    Skipped(String),
    /// It was tried without a provable effect; the run goes on.
    #[error("indeterminate: {0}")]
    Indeterminate(String),
    /// The harness failed; the run ends with exit status 70.
    #[error("harness failure: {0}")]
    Harness(String),
}

impl From<crate::cluster::ClusterError> for NotInstalled {
    fn from(error: crate::cluster::ClusterError) -> Self {
        use crate::cluster::ClusterError as E;
        match error {
            E::Down(_)
            | E::Up(_)
            | E::Disk(DiskError::NotLoaded { .. } | DiskError::Held { .. }) => {
                Self::Skipped(error.to_string())
            }
            E::Died { .. } | E::NotReady { .. } => Self::Indeterminate(error.to_string()),
            _ => Self::Harness(error.to_string()),
        }
    }
}

impl From<crate::journal::JournalError> for NotInstalled {
    fn from(error: crate::journal::JournalError) -> Self {
        Self::Harness(error.to_string())
    }
}
