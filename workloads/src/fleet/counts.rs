//! What the clients came to, in numbers.

use std::collections::BTreeMap;

use highwater_history::event::Acks;

use crate::{Completion, Key, Op, Outcome, Time, workload::Role};

/// Counts of sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sends ended ok, by acks level.
    pub sends_ok: BTreeMap<Acks, u64>,
    /// When a send to each key was last begun.
    pub last_begun: BTreeMap<Key, Time>,
    /// When a send to each key last ended ok.
    pub last_ok: BTreeMap<Key, Time>,
}

impl Counts {
    pub(super) fn begin(&mut self, now: Time, op: &Op) {
        if let Op::Send { key, .. } = op {
            self.last_begun.insert(*key, now);
        }
    }

    pub(super) fn add(&mut self, now: Time, role: Role, op: &Op, completion: &Completion) {
        if let (Role::Producer(acks), Outcome::Ok) = (role, completion.outcome) {
            *self.sends_ok.entry(acks).or_default() += 1;
            if let Op::Send { key, .. } = op {
                self.last_ok.insert(*key, now);
            }
        }
    }

    /// Sends ended ok at any level.
    pub fn acknowledged(&self) -> u64 {
        self.sends_ok.iter().filter(|(acks, _)| **acks != Acks::Zero).map(|(_, n)| n).sum()
    }
}
