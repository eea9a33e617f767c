//! Undoes what a killed run left behind, from its heal journal and the marker of its processes.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use highwater_history::{
    FormatError,
    journal::{Act, JournalEntry, Phase, left_to_heal},
    lines::{LineWriter, Lines},
};
use serde::Serialize;
use thiserror::Error;

use crate::{
    journal::{self, entry},
    process::{OsProcess, Signal, marked_processes},
    scratch,
};

/// How long a killed process may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// What was undone.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct HealReport {
    /// Paused processes that were resumed.
    pub resumed: Vec<Healed>,
    /// Processes that were killed.
    pub killed: Vec<Healed>,
    /// What the journal demands and this version cannot undo, each in one sentence.
    pub left: Vec<String>,
    /// What resisted, each in one sentence; the journal still demands it.
    pub failed: Vec<String>,
}

/// A process that was healed away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Healed {
    /// What it was.
    pub name: String,
    /// Which process.
    pub process: OsProcess,
}

impl HealReport {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a run folder could not be healed.
#[derive(Debug, Error)]
pub enum HealError {
    /// There is no such folder, or it holds no journal.
    #[error("{path} cannot be opened ({source}); is {folder} a run folder?",
        path = .path.display(), folder = .folder.display())]
    NoJournal {
        /// The folder.
        folder: PathBuf,
        /// The journal looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The run goes on.
    #[error("the run in {} is still running; interrupt it, and it heals itself", folder.display())]
    Running {
        /// The folder.
        folder: PathBuf,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] FormatError),
    /// A process cannot be signalled.
    #[error("cannot signal {name} (pid {pid}): {source}")]
    Signal {
        /// What it is.
        name: String,
        /// Its pid.
        pid: i32,
        /// What the system said.
        source: io::Error,
    },
    /// A killed process does not go away.
    #[error("{name} (pid {pid}) is still there {} s after SIGKILL", GONE_WITHIN.as_secs())]
    Stays {
        /// What it is.
        name: String,
        /// Its pid.
        pid: i32,
    },
}

/// Restores the machine after the run in `run_folder` was killed: resumes what it paused and kills
/// what it started, nothing else. A second call finds nothing to do.
///
/// A process that resists is told in the report and does not keep the others from being healed.
///
/// # Errors
/// When there is no journal to go by or the run still runs.
pub fn heal(run_folder: &Path) -> Result<HealReport, HealError> {
    let mut report = heal_folder(run_folder)?;
    clear_trials(&scratch::folder(), &mut report);
    Ok(report)
}

/// Undoes what a harness left that was killed before its run had a folder: the node on which it
/// tried the run's settings.
fn clear_trials(folder: &Path, report: &mut HealReport) {
    for trial in scratch::all(folder) {
        // One without a journal has started nothing yet, and one that is running heals itself.
        let Ok(healed) = heal_folder(&trial) else { continue };
        report.resumed.extend(healed.resumed);
        report.killed.extend(healed.killed);
        report.left.extend(healed.left);
        report.failed.extend(healed.failed);
        if let Err(error) = fs::remove_dir_all(&trial) {
            report.failed.push(format!("{}: {error}", trial.display()));
        }
    }
}

fn heal_folder(run_folder: &Path) -> Result<HealReport, HealError> {
    let path = journal::path(run_folder);
    let folder = run_folder.to_owned();
    let file = File::open(&path).map_err(|source| HealError::NoJournal {
        folder: folder.clone(),
        path: path.clone(),
        source,
    })?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(HealError::Running { folder });
    }
    let left = left_to_heal(&Lines::<JournalEntry>::read(&path)?.lines);
    let mut report = HealReport::default();
    let (pauses, others): (Vec<_>, Vec<_>) =
        left.iter().partition(|(_, act)| matches!(act, Act::Pause(_)));
    let undone = undo_each(pauses.into_iter().chain(others), &mut report, undo);
    let folder = run_folder.canonicalize().unwrap_or(folder);
    for marked in marked_processes(&folder) {
        if let Err(error) = kill(&marked.command, marked.id, &mut report) {
            report.failed.push(error.to_string());
        }
    }
    if let Err(error) = close(&path, &undone)
        && !report.is_empty()
    {
        report.failed.push(error.to_string());
    }
    Ok(report)
}

/// Undoes one act after the other, whatever becomes of those before; gives those that are undone.
fn undo_each<'a>(
    acts: impl Iterator<Item = (&'a u64, &'a Act)>,
    report: &mut HealReport,
    undo: impl Fn(&Act, &mut HealReport) -> Result<bool, HealError>,
) -> Vec<u64> {
    let mut undone = Vec::new();
    for (number, act) in acts {
        match undo(act, report) {
            Ok(true) => undone.push(*number),
            Ok(false) => {}
            Err(error) => report.failed.push(error.to_string()),
        }
    }
    undone
}

/// Undoes an act; false when somebody else has to.
fn undo(act: &Act, report: &mut HealReport) -> Result<bool, HealError> {
    match act {
        Act::Process(identity) => {
            if let Some(process) = OsProcess::from_journal(identity) {
                kill(&identity.name, process, report)?;
            }
        }
        Act::Pause(identity) => {
            if let Some(process) = OsProcess::from_journal(identity) {
                resume(&identity.name, process, report)?;
            }
        }
        // The proxies' rules went with the process that obeyed them.
        Act::Link { .. } => {}
        Act::Rule { undo } => {
            report.left.push(format!("run by hand: {}", undo.join(" ")));
            return Ok(false);
        }
        Act::Path { path } => {
            report.left.push(format!("remove by hand: {path}"));
            return Ok(false);
        }
    }
    Ok(true)
}

fn resume(name: &str, process: OsProcess, report: &mut HealReport) -> Result<(), HealError> {
    if process.stopped() && signal(name, process, Signal::CONT)? {
        report.resumed.push(Healed { name: name.to_owned(), process });
    }
    Ok(())
}

fn kill(name: &str, process: OsProcess, report: &mut HealReport) -> Result<(), HealError> {
    if !process.alive() || !signal(name, process, Signal::KILL)? {
        return Ok(());
    }
    let start = Instant::now();
    while process.alive() {
        if start.elapsed() > GONE_WITHIN {
            return Err(HealError::Stays { name: name.to_owned(), pid: process.pid });
        }
        // The process is no child of ours, so its end is no event that we could wait for.
        thread::sleep(Duration::from_millis(2));
    }
    report.killed.push(Healed { name: name.to_owned(), process });
    Ok(())
}

fn signal(name: &str, process: OsProcess, signal: Signal) -> Result<bool, HealError> {
    process.signal_group(signal).map_err(|source| HealError::Signal {
        name: name.to_owned(),
        pid: process.pid,
        source,
    })
}

/// Says in the journal that these are undone. Where nothing had to be done, because all is gone
/// already, nobody needs to read it there: the folder may be read-only.
fn close(path: &Path, acts: &[u64]) -> Result<(), HealError> {
    if acts.is_empty() {
        return Ok(());
    }
    let mut lines = LineWriter::append(path)?;
    for act in acts {
        lines.write(&entry(*act, Phase::Undone, None))?;
    }
    Ok(lines.finish()?)
}

#[cfg(test)]
mod tests;
