//! Client processes: which session they belong to, and what they were assigned.

use std::collections::BTreeMap;

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

/// Something of each process that has it.
#[derive(Debug)]
pub struct PerProcess<T> {
    /// Of the first processes by position: of most histories these are all.
    first: Vec<Option<T>>,
    others: BTreeMap<u32, T>,
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self { first: Vec::new(), others: BTreeMap::new() }
    }
}

impl<T> PerProcess<T> {
    /// As many as a key may have room for, however many keys there are.
    const FIRST: usize = 64;

    /// What a process has, by its position.
    pub fn get(&self, process: u32) -> Option<&T> {
        match process as usize {
            at if at < Self::FIRST => self.first.get(at)?.as_ref(),
            _ => self.others.get(&process),
        }
    }

    /// Gives a process something, instead of what it had.
    pub fn insert(&mut self, process: u32, it: T) {
        let at = process as usize;
        if at >= Self::FIRST {
            self.others.insert(process, it);
            return;
        }
        if at >= self.first.len() {
            self.first.resize_with(at + 1, || None);
        }
        self.first[at] = Some(it);
    }
}

/// All client processes and sessions.
#[derive(Debug, Default)]
pub struct Processes {
    ids: Numbers,
    /// Positions of processes with low numbers, which most have, `NONE` where there is none.
    low: Vec<u32>,
    all: Vec<ClientProcess>,
    /// Sessions, in the order of their `open` events.
    pub clients: Vec<OpenClient>,
}

const NONE: u32 = u32::MAX;

impl Processes {
    const LOW: usize = 1 << 12;

    /// The position of a process, which is added when it is new.
    pub fn intern(&mut self, number: ProcessId) -> u32 {
        let low = usize::try_from(number).ok().filter(|low| *low < Self::LOW);
        let known = low.and_then(|low| self.low.get(low)).copied();
        if let Some(position) = known.filter(|position| *position != NONE) {
            return position;
        }
        let position = self.find_or_add(number);
        if let Some(low) = low {
            self.low.resize(self.low.len().max(low + 1), NONE);
            self.low[low] = position;
        }
        position
    }

    fn find_or_add(&mut self, number: ProcessId) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_its_own() {
        let mut of = PerProcess::default();
        let processes = [0, 3, 63, 64, 1_000_000];
        processes.iter().for_each(|process| of.insert(*process, *process));
        of.insert(3, 7);
        let has = [0, 3, 63, 64, 1_000_000, 1, 65].map(|process| of.get(process).copied());
        let none = None;
        assert_eq!(has, [Some(0), Some(7), Some(63), Some(64), Some(1_000_000), none, none]);
    }

    #[test]
    fn processes_keep_their_positions_whatever_their_numbers() {
        let mut processes = Processes::default();
        let numbers = [5, 0, 4_095, 4_096, u64::MAX - 1, 5, 4_096, 0];
        let positions = numbers.map(|number| processes.intern(number));
        assert_eq!(positions, [0, 1, 2, 3, 4, 0, 3, 1]);
    }
}
