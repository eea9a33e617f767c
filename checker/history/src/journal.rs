//! `journal.jsonl`: the heal journal, what a run has put in place and must take back.
//!
//! Every act is written before it is done and again once it is undone, so that a later process can
//! restore the machine when the run was killed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::lines::{Line, Plain};

/// One line of the heal journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Number of the act; doing and undoing carry the same.
    pub act: u64,
    /// Wall clock, milliseconds since 1970.
    pub wall_ms: u64,
    /// Doing or undone.
    pub phase: Phase,
    /// What is done; absent once undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<Act>,
}

impl Line for JournalEntry {
    const KIND: &'static str = "journal";
    const FORMAT: u64 = 1;
    const GROWS: bool = true;
    type Header = Plain;
}

/// Where an act stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// About to be done.
    Doing,
    /// Taken back, nothing left to heal.
    Undone,
}

/// Something that must be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Act {
    /// A process was started and must be ended.
    Process(ProcessIdentity),
    /// A process was stopped by a signal and must go on.
    Pause(ProcessIdentity),
    /// A rule of the run's own proxies; it is gone with the run's process at the latest.
    Link {
        /// The link and what is done to it.
        rule: serde_json::Value,
    },
    /// A rule outside of any process (firewall, namespace); the command takes it back.
    Rule {
        /// Program and arguments that take it back.
        undo: Vec<String>,
    },
    /// A file or folder that must not stay.
    Path {
        /// Where.
        path: String,
    },
}

/// A process that cannot be taken for another one that got its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: u32,
    /// Start time, clock ticks since the machine's start (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
    /// The machine's boot id: a process of another boot is gone.
    pub boot_id: String,
    /// What it is, for messages.
    pub name: String,
}

/// The acts that a journal leaves to heal, by number, in the order done.
pub fn left_to_heal(entries: &[JournalEntry]) -> BTreeMap<u64, Act> {
    let mut left = BTreeMap::new();
    for entry in entries {
        match (entry.phase, &entry.what) {
            (Phase::Doing, Some(what)) => {
                left.insert(entry.act, what.clone());
            }
            (Phase::Doing, None) => {}
            (Phase::Undone, _) => {
                left.remove(&entry.act);
            }
        }
    }
    left
}
