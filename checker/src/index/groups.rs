//! Consumer groups: what their members committed.

use std::collections::BTreeSet;

use highwater_history::Offset;

use super::{Index, KeyId, operations::OpId};

/// One commit of a group's offsets, whatever came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCommit {
    /// The operation.
    pub op: OpId,
    /// The position of the process that committed.
    pub process: u32,
    /// The group.
    pub group: String,
    /// The generation or member epoch under which it committed; none for a consumer that is no
    /// member.
    pub generation: Option<i64>,
    /// Where the group goes on, by key.
    pub offsets: Vec<(KeyId, Offset)>,
}

impl Index {
    /// The names of all groups.
    pub fn groups(&self) -> BTreeSet<&str> {
        let sessions = self.processes.clients.iter().filter_map(|client| client.group.as_deref());
        sessions.chain(self.commits.iter().map(|commit| commit.group.as_str())).collect()
    }

    /// The processes of a group: those whose session names it, and those that commit for it.
    pub fn members(&self, group: &str) -> BTreeSet<u32> {
        let of_session = |process: &u32| {
            let client = self.processes.client(*process);
            client.and_then(|client| client.group.as_deref()) == Some(group)
        };
        let sessions = (0..self.processes.len() as u32).filter(of_session);
        let commits = self.commits.iter().filter(|commit| commit.group == group);
        sessions.chain(commits.map(|commit| commit.process)).collect()
    }
}
