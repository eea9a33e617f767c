//! How a process ended, and waiting for it.

use std::{fmt, os::unix::process::ExitStatusExt, process::ExitStatus};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// A wait status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// It returned this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether SIGKILL ended it: the proof of a kill.
    #[must_use]
    pub fn killed(self) -> bool {
        self == Self::Signal(rustix::process::Signal::KILL.as_raw())
    }

    /// Whether it is what a process that shut itself down returns: 0, or from a JVM that was sent
    /// SIGTERM 143.
    #[must_use]
    pub fn orderly(self) -> bool {
        matches!(self, Self::Code(0 | 143))
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => unreachable!("a process that was waited for has a code or a signal"),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// Tells when a process ended; clones wait for the same one.
#[derive(Debug, Clone)]
pub struct ExitWatch(pub(super) watch::Receiver<Option<Exit>>);

impl ExitWatch {
    /// How it ended; `None` while it runs.
    #[must_use]
    pub fn now(&self) -> Option<Exit> {
        *self.0.borrow()
    }

    /// Waits until it ended.
    pub async fn wait(&mut self) -> Exit {
        let ended = self.0.wait_for(Option::is_some).await;
        ended
            .ok()
            .and_then(|exit| *exit)
            .expect("the task that waits for the process reports first")
    }
}
