//! Starts one node process with its output in the run folder.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use thiserror::Error;
use tokio::{process::Child, sync::watch};

use super::{Exit, ExitWatch, OsProcess, RUN_VARIABLE, output};
use crate::target::Command;

/// What to start and where its output goes.
#[derive(Debug)]
pub struct Spawn<'a> {
    /// The program.
    pub command: &'a Command,
    /// The node's folder, which gets `stdout.K.log` and `stderr.K.log`.
    pub folder: &'a Path,
    /// How often this node was started before: K.
    pub incarnation: u32,
    /// The run folder, for the marker.
    pub run_folder: &'a Path,
    /// The beginning of the line on standard output that means ready; `None` when none is printed.
    pub ready_line: Option<&'static str>,
}

/// A started process.
#[derive(Debug)]
pub struct Spawned {
    /// Which process it is.
    pub id: OsProcess,
    /// Tells when and how it ended.
    pub exit: ExitWatch,
    /// Its ready line, once printed; stays empty when none was asked for.
    pub ready: watch::Receiver<Option<String>>,
}

/// Why a process was not started.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// The program could not be executed.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An output file could not be made.
    #[error("cannot write {path}: {source}")]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Starts the process in a group of its own. It is killed when the runtime that waits for it ends.
/// When the harness itself is killed the process goes on, unless it is paused: the kernel hangs up
/// on stopped process groups that lose their parent.
///
/// # Errors
/// When the program cannot be executed or its output files cannot be made.
///
/// # Panics
/// Outside a tokio runtime.
pub fn spawn(what: &Spawn<'_>) -> Result<Spawned, SpawnError> {
    let mut child = execute(what)?;
    let pid = child.id().expect("a child that nobody waited for has a pid") as i32;
    let id = OsProcess::of(pid).expect("a child that nobody waited for is in /proc");
    let (ready_sender, ready) = watch::channel(None);
    if let (Some(wanted), Some(stdout)) = (what.ready_line, child.stdout.take()) {
        let path = output_path(what, "stdout").into_boxed_path();
        tokio::spawn(output::tee(stdout, path, wanted, ready_sender));
    }
    let (exit_sender, exit) = watch::channel(None);
    tokio::spawn(async move {
        let status = child.wait().await;
        exit_sender.send_replace(Some(status.map_or(Exit::Code(-1), Exit::from)));
    });
    Ok(Spawned { id, exit: ExitWatch(exit), ready })
}

fn execute(what: &Spawn<'_>) -> Result<Child, SpawnError> {
    let stdout = match what.ready_line {
        Some(_) => Stdio::piped(),
        None => output_file(what, "stdout")?.into(),
    };
    let stderr: Stdio = output_file(what, "stderr")?.into();
    let command = what.command;
    tokio::process::Command::new(&command.program)
        .args(&command.arguments)
        .envs(command.environment.iter().map(|(key, value)| (key, value)))
        .env(RUN_VARIABLE, what.run_folder)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| SpawnError::Start { program: command.program.clone(), source })
}

fn output_path(what: &Spawn<'_>, stream: &str) -> PathBuf {
    what.folder.join(format!("{stream}.{}.log", what.incarnation))
}

fn output_file(what: &Spawn<'_>, stream: &str) -> Result<File, SpawnError> {
    let path = output_path(what, stream);
    fs::create_dir_all(what.folder)
        .and_then(|()| File::create(&path))
        .map_err(|source| SpawnError::Output { path, source })
}
