//! Client processes: which session they belong to, and what they were assigned.

use highwater_history::{
    event::{Acks, OpenClient},
    types::ProcessId,
};

use super::{KeyId, numbers::Numbers};

/// An assign or subscribe that ended ok or info.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Index of its completion.
    pub event: u64,
    /// The keys named, sorted.
    pub keys: Vec<KeyId>,
    /// Whether it went back to the beginning.
    pub to_beginning: bool,
    /// Whether it came through a group.
    pub subscribed: bool,
}

impl Assignment {
    /// Whether a consumer forgets its position on a key.
    pub fn forgets(&self, key: KeyId) -> bool {
        self.to_beginning || self.keys.binary_search(&key).is_err()
    }
}

/// One client process.
#[derive(Debug)]
pub struct ClientProcess {
    /// Its number in the history.
    pub number: ProcessId,
    /// Position of its session in [`Processes::clients`].
    pub client: Option<usize>,
    /// Its assignments in order.
    pub assignments: Vec<Assignment>,
}

impl ClientProcess {
    /// The latest assignment before an event.
    pub fn assignment_before(&self, event: u64) -> Option<&Assignment> {
        let at = self.assignments.partition_point(|assignment| assignment.event < event);
        at.checked_sub(1).map(|at| &self.assignments[at])
    }

    /// The assignments between two events.
    pub fn assignments_between(&self, from: u64, to: u64) -> &[Assignment] {
        let start = self.assignments.partition_point(|assignment| assignment.event < from);
        let end = self.assignments.partition_point(|assignment| assignment.event < to);
        &self.assignments[start..end.max(start)]
    }
}

/// All client processes and sessions.
#[derive(Debug, Default)]
pub struct Processes {
    ids: Numbers,
    all: Vec<ClientProcess>,
    /// Sessions, in the order of their `open` events.
    pub clients: Vec<OpenClient>,
}

impl Processes {
    /// The position of a process, which is added when it is new.
    pub fn intern(&mut self, number: ProcessId) -> u32 {
        let key = i64::try_from(number).unwrap_or(i64::MAX);
        let (at, new) = self.ids.intern(key);
        if new {
            self.all.push(ClientProcess { number, client: None, assignments: Vec::new() });
        }
        at
    }

    /// Adds a session with its processes.
    pub fn open(&mut self, client: OpenClient) {
        let at = self.clients.len();
        for number in &client.processes {
            let process = self.intern(*number);
            self.all[process as usize].client = Some(at);
        }
        self.clients.push(client);
    }

    /// The process at a position.
    pub fn get(&self, process: u32) -> &ClientProcess {
        &self.all[process as usize]
    }

    /// The process at a position, to change.
    pub fn get_mut(&mut self, process: u32) -> &mut ClientProcess {
        &mut self.all[process as usize]
    }

    /// The session of a process.
    pub fn client(&self, process: u32) -> Option<&OpenClient> {
        self.get(process).client.map(|at| &self.clients[at])
    }

    /// The acks level that the session of a process said.
    pub fn acks(&self, process: u32) -> Option<Acks> {
        self.client(process).and_then(|client| client.acks)
    }

    /// How many processes there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
