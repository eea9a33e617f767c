//! Which client a process belongs to, and since when its operation runs.

use std::collections::BTreeMap;

use highwater_history::{TimeNs, event::OpenClient, types::ProcessId};

use super::Level;

/// Processes as the history introduced them.
#[derive(Default)]
pub(super) struct Sessions {
    levels: BTreeMap<ProcessId, Level>,
    running: BTreeMap<ProcessId, TimeNs>,
}

impl Sessions {
    /// A client session opens.
    pub(super) fn open(&mut self, open: &OpenClient) {
        let level = Level::from(open.acks);
        self.levels.extend(open.processes.iter().map(|process| (*process, level)));
    }

    /// An operation of the process begins; it should have at `intended`.
    pub(super) fn invoke(&mut self, process: ProcessId, intended: TimeNs) {
        self.running.insert(process, intended);
    }

    /// The operation of the process ends: when it should have begun.
    pub(super) fn complete(&mut self, process: ProcessId) -> Option<TimeNs> {
        self.running.remove(&process)
    }

    /// The acks level of the process.
    pub(super) fn level(&self, process: ProcessId) -> Level {
        self.levels.get(&process).copied().unwrap_or(Level::Unsaid)
    }
}
