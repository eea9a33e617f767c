//! A client process of the model: what it consumes, and the operation that it is in.

use std::collections::{BTreeMap, BTreeSet};

use highwater_history::{
    Key, Offset, Value,
    event::{EventKind, Function, MicroOp},
};

use super::log::Transaction;

/// What an operation still has to do, one step at a time.
#[derive(Clone)]
pub enum Step {
    Send(Key, Value),
    Poll,
}

/// How an operation will end, decided when it begins.
#[derive(Clone, Copy, PartialEq)]
pub struct Ending {
    /// `Ok`, `Fail` or `Info`.
    pub kind: EventKind,
    /// Whether an unknown one takes effect; a plain send decides it record by record.
    pub lands: bool,
    /// Whether it never completes.
    pub crash: bool,
}

/// An operation in flight.
pub struct Pending {
    pub f: Function,
    pub ending: Ending,
    pub transaction: Option<Transaction>,
    /// In reverse: the next one is the last.
    pub steps: Vec<Step>,
    /// What its steps did.
    pub done: Vec<MicroOp>,
    /// Keys that it read, and keys that changed hands meanwhile.
    pub read: BTreeSet<Key>,
    pub rebalanced: BTreeSet<Key>,
    /// The keys that it assigns.
    pub assigns: Option<(BTreeSet<Key>, bool)>,
}

/// A client process.
pub struct Client {
    pub process: u64,
    pub pending: Option<Pending>,
    /// What it has assigned; nothing yet means that it polls any key.
    pub assigned: Option<BTreeSet<Key>>,
    pub subscribed: bool,
    /// Where its next ok poll goes on, and where it is within the operation.
    pub committed: BTreeMap<Key, Offset>,
    pub position: BTreeMap<Key, Offset>,
}

impl Client {
    pub fn new(process: u64) -> Self {
        Self {
            process,
            pending: None,
            assigned: None,
            subscribed: false,
            committed: BTreeMap::new(),
            position: BTreeMap::new(),
        }
    }

    /// Takes these keys instead of the current ones; those that it kept go on where they were, and
    /// from the beginning all begin there. Where a group's member goes on, the group decides.
    pub fn assign(&mut self, keys: &BTreeSet<Key>, from_beginning: bool, subscribed: bool) {
        self.committed.retain(|key, _| keys.contains(key) && !from_beginning);
        if from_beginning && !subscribed {
            self.committed = keys.iter().map(|key| (key.clone(), 0)).collect();
        }
        self.position = self.committed.clone();
        self.subscribed = subscribed;
        self.assigned = Some(keys.clone());
    }

    /// Ends an operation: an ok one moves the position, after any other it starts again.
    pub fn settle(&mut self, ok: bool) {
        if ok {
            self.committed = self.position.clone();
        } else {
            self.position = self.committed.clone();
        }
    }
}
