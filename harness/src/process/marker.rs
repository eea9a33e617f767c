//! A variable in every node's environment that says which run it belongs to.
//!
//! It finds a process whose start was journalled but whose pid was not yet known when the harness
//! was killed.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use super::OsProcess;

/// The variable; its value is the run folder's absolute path.
pub const RUN_VARIABLE: &str = "HIGHWATER_RUN_FOLDER";

/// A process that bears the marker of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// Which process it is.
    pub id: OsProcess,
    /// Its command line, words joined by spaces.
    pub command: String,
}

/// Every living process that was started for the run in `run_folder`, in order of pid.
#[must_use]
pub fn marked_processes(run_folder: &Path) -> Vec<Marked> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found: Vec<Marked> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: i32| marked(pid, run_folder.as_os_str()))
        .collect();
    found.sort_by_key(|process| process.id);
    found
}

fn marked(pid: i32, run_folder: &OsStr) -> Option<Marked> {
    let id = OsProcess::of(pid)?;
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let wanted = [RUN_VARIABLE.as_bytes(), b"=", run_folder.as_bytes()].concat();
    let bears = environment.split(|byte| *byte == 0).any(|variable| variable == wanted);
    (bears && id.alive()).then(|| Marked { id, command: command_line(pid) })
}

fn command_line(pid: i32) -> String {
    let raw = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = raw.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
}
