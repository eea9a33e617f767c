//! One life of a node's process, and the record of it in the node's folder.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
};

use serde::Serialize;

use super::NodeId;
use crate::process::{Exit, OsProcess, Signal};

/// One line per ended life, in the node's folder.
const LIVES_FILE: &str = "lives.jsonl";

/// What a node is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It has no process.
    Down,
    /// Its process runs.
    Running,
    /// Its process is stopped by SIGSTOP.
    Paused,
}

/// One life of a node's process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Life {
    /// The node.
    pub node: NodeId,
    /// Counts this node's starts from 0.
    pub incarnation: u32,
    /// The process.
    pub process: OsProcess,
    /// How it ended; `None` while it runs.
    pub exit: Option<Exit>,
    /// How the harness asked for the end.
    pub asked: Asked,
}

/// How the harness asked a process to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// By SIGTERM.
    pub stop: bool,
    /// By SIGKILL.
    pub kill: bool,
}

impl Life {
    /// Whether it ended otherwise than it was asked to: that end is the target's own.
    #[must_use]
    pub fn crashed(&self) -> bool {
        let Some(exit) = self.exit else { return false };
        // SIGTERM itself ends a process that has not begun to listen for it.
        let stopped = exit.orderly() || exit == Exit::Signal(Signal::TERM.as_raw());
        !(self.asked.kill && exit.killed() || self.asked.stop && stopped)
    }

    /// Appends the ended life to `lives.jsonl` in the node's folder.
    pub(super) fn record(&self, folder: &Path) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let file = OpenOptions::new().create(true).append(true).open(folder.join(LIVES_FILE));
        file?.write_all(&line)
    }
}
