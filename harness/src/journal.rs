//! The heal journal of a running harness: what was done to the machine and not yet undone.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use highwater_history::{
    FormatError,
    journal::{Act, JournalEntry, Phase},
    lines::{LineWriter, Plain},
};
use thiserror::Error;

use crate::clock::RunClock;

/// The journal's file in a run folder.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// Why the journal could not be written: then the act must not be done.
#[derive(Debug, Error)]
#[error("the heal journal cannot be written: {0}")]
pub struct JournalError(#[from] FormatError);

/// The number of an act in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActId(u64);

/// The journal of a run. While it is open, `heal` leaves the run alone.
pub struct Journal {
    /// Locked for as long as the run lives; the kernel lets go when its process ends.
    _running: File,
    lines: Mutex<LineWriter<JournalEntry>>,
    next: AtomicU64,
    clock: RunClock,
}

impl Journal {
    /// Starts the journal of the run in `run_folder`.
    ///
    /// # Errors
    /// When the file cannot be made, or another run has it.
    pub fn create(run_folder: &Path, clock: RunClock) -> Result<Self, JournalError> {
        let mut lines = LineWriter::create(&path(run_folder), &Plain {})?;
        lines.flush()?;
        let running = lock(&path(run_folder))?;
        Ok(Self { _running: running, lines: Mutex::new(lines), next: AtomicU64::new(0), clock })
    }

    /// The run's clock.
    #[must_use]
    pub fn clock(&self) -> &RunClock {
        &self.clock
    }

    /// Says that `act` is about to be done; the line is the kernel's when this returns.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn begin(&self, act: Act) -> Result<ActId, JournalError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.write(entry(id, Phase::Doing, Some(act)))?;
        Ok(ActId(id))
    }

    /// Says that an act was undone.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn end(&self, act: ActId) -> Result<(), JournalError> {
        self.write(entry(act.0, Phase::Undone, None))
    }

    fn write(&self, line: JournalEntry) -> Result<(), JournalError> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.write(&line)?;
        Ok(lines.flush()?)
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("next", &self.next).finish_non_exhaustive()
    }
}

fn lock(path: &Path) -> Result<File, JournalError> {
    let locked = File::open(path).and_then(|file| {
        file.try_lock()?;
        Ok(file)
    });
    Ok(locked.map_err(|source| FormatError::io(path, source))?)
}

/// Where the journal of a run is.
#[must_use]
pub fn path(run_folder: &Path) -> PathBuf {
    run_folder.join(JOURNAL_FILE)
}

/// A journal line of now.
pub(crate) fn entry(act: u64, phase: Phase, what: Option<Act>) -> JournalEntry {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    JournalEntry { act, wall_ms: since_epoch.as_millis() as u64, phase, what }
}
