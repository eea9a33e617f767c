//! Consumer groups: who is in them, what their members committed, and what they were told of it.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::Offset;

use super::{
    KeyId,
    operations::{OpId, Operations, Outcome},
    processes::Processes,
};

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

/// What somebody was answered of a group's committed offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFetch {
    /// The operation.
    pub op: OpId,
    /// The group.
    pub group: String,
    /// Where the group goes on, by key; none where it has committed nothing. Empty where nobody
    /// heard of the answer.
    pub offsets: Vec<(KeyId, Option<Offset>)>,
}

/// A consumer group.
#[derive(Debug, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The processes whose session names it, and those that commit for it.
    pub members: BTreeSet<u32>,
    /// Its commits, in the order in which they began.
    pub commits: Vec<GroupCommit>,
    /// What was asked of it, in the order in which that began.
    pub fetches: Vec<GroupFetch>,
    /// The highest offset that an accepted commit named, by key.
    pub committed: BTreeMap<KeyId, Offset>,
}

/// All groups by name, of commits in the order in which they began.
pub(super) fn of(
    commits: impl Iterator<Item = GroupCommit>,
    fetches: impl Iterator<Item = GroupFetch>,
    processes: &Processes,
    ops: &Operations,
) -> Vec<Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for client in processes.clients.iter().filter_map(|client| client.group.as_ref()) {
        groups.entry(client.clone()).or_default();
    }
    for process in 0..processes.len() as u32 {
        let client = processes.client(process);
        if let Some(name) = client.and_then(|client| client.group.as_ref()) {
            groups.entry(name.clone()).or_default().members.insert(process);
        }
    }
    for commit in commits {
        let group = groups.entry(commit.group.clone()).or_default();
        group.members.insert(commit.process);
        if ops.get(commit.op).outcome == Outcome::Ok {
            for (key, offset) in &commit.offsets {
                let committed = group.committed.entry(*key).or_insert(*offset);
                *committed = (*committed).max(*offset);
            }
        }
        group.commits.push(commit);
    }
    for fetch in fetches {
        groups.entry(fetch.group.clone()).or_default().fetches.push(fetch);
    }
    let named = |(name, group): (String, Group)| Group { name, ..group };
    groups.into_iter().map(named).collect()
}
