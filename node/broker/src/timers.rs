//! Things to do at a later time, in order of time and then of being asked for.

use std::collections::BTreeMap;
use std::fmt;

use highwater_node_core::types::Time;

use crate::kernel::Later;

/// One pending timer; cancelling it twice does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId {
    at: Time,
    serial: u64,
}

/// All pending timers of a node.
#[derive(Default)]
pub(crate) struct Timers {
    pending: BTreeMap<TimerId, Later>,
    next_serial: u64,
}

impl Timers {
    /// Runs `then` once `at` has come.
    pub(crate) fn set(&mut self, at: Time, then: Later) -> TimerId {
        self.set_with(at, |_| then)
    }

    /// Like `set`, for what has to know its own timer.
    pub(crate) fn set_with(&mut self, at: Time, then: impl FnOnce(TimerId) -> Later) -> TimerId {
        let id = TimerId { at, serial: self.next_serial };
        self.next_serial += 1;
        self.pending.insert(id, then(id));
        id
    }

    /// Forgets a timer that has not run yet.
    pub(crate) fn cancel(&mut self, id: TimerId) {
        self.pending.remove(&id);
    }

    /// Takes the first timer whose time has come.
    pub(crate) fn due(&mut self, now: Time) -> Option<Later> {
        let first = self.pending.first_entry()?;
        (first.key().at <= now).then(|| first.remove())
    }

    /// When the next timer is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.pending.first_key_value().map(|(id, _)| id.at)
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.pending.keys()).finish()
    }
}
