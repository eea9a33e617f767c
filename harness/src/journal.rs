//! The heal journal: what was done to the machine and not yet undone, line by line.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{clock::RunClock, cluster::NodeId, process::ProcessId};

/// The journal's file in a run folder.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// Something that was done to the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
pub enum Act {
    /// A process of ours is about to be started; undone when it has ended.
    Start {
        /// The node that it is.
        node: NodeId,
        /// Its command line.
        command: String,
    },
    /// A process is about to be stopped by SIGSTOP; undone when it runs again.
    Pause {
        /// The node.
        node: NodeId,
        /// Its process.
        process: ProcessId,
    },
    /// A link rule is about to be installed in a proxy; it ends with the harness at the latest.
    Rule {
        /// The rule.
        rule: Value,
    },
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "kebab-case")]
pub enum Line {
    /// An act is about to be done.
    Begin {
        /// Its number in this journal.
        id: u64,
        /// Nanoseconds since the run's start.
        time: u64,
        /// The act.
        #[serde(flatten)]
        act: Act,
    },
    /// The process that a `start` led to.
    Process {
        /// The number of the `start`.
        id: u64,
        /// The process.
        #[serde(flatten)]
        process: ProcessId,
    },
    /// An act was undone.
    End {
        /// Its number.
        id: u64,
        /// Nanoseconds since the run's start.
        time: u64,
    },
}

/// Why the journal could not be written.
#[derive(Debug, Error)]
#[error("cannot write the heal journal {path}: {source}")]
pub struct JournalError {
    path: PathBuf,
    source: io::Error,
}

/// The number of an act in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActId(u64);

/// The journal of a running harness.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    next: AtomicU64,
    clock: RunClock,
}

impl Journal {
    /// Opens the journal of the run in `run_folder`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(run_folder: &Path, clock: RunClock) -> Result<Self, JournalError> {
        let path = run_folder.join(JOURNAL_FILE);
        match OpenOptions::new().create(true).append(true).open(&path) {
            Ok(file) => Ok(Self { path, file: Mutex::new(file), next: AtomicU64::new(0), clock }),
            Err(source) => Err(JournalError { path, source }),
        }
    }

    /// The run's clock.
    #[must_use]
    pub fn clock(&self) -> &RunClock {
        &self.clock
    }

    /// Says that `act` is about to be done; the line is the kernel's when this returns.
    ///
    /// # Errors
    /// When the line cannot be written: then the act must not be done.
    pub fn begin(&self, act: Act) -> Result<ActId, JournalError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.write(&Line::Begin { id, time: self.clock.now_ns(), act })?;
        Ok(ActId(id))
    }

    /// Says which process a `start` led to.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn started(&self, act: ActId, process: ProcessId) -> Result<(), JournalError> {
        self.write(&Line::Process { id: act.0, process })
    }

    /// Says that `act` was undone.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn end(&self, act: ActId) -> Result<(), JournalError> {
        self.write(&Line::End { id: act.0, time: self.clock.now_ns() })
    }

    fn write(&self, line: &Line) -> Result<(), JournalError> {
        let mut text = serde_json::to_vec(line).expect("a journal line has only string keys");
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text).map_err(|source| JournalError { path: self.path.clone(), source })
    }
}
