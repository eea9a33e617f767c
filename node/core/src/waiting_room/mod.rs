//! The waiting room (purgatory): requests that cannot be answered yet, and when they can.
//!
//! A produce request waits until each of its writes is decided (rules 36, 37); a fetch until
//! enough bytes are readable, or something other than bytes is to be told. Both end at their
//! deadline.

#[cfg(test)]
mod tests;

mod wait;

use std::collections::{BTreeMap, BTreeSet};

use crate::replica::{Env, ReplicaError, Replicas};
use crate::types::{PartitionId, Time};

pub use wait::{PendingWrite, Wait};

/// One waiting request; the caller never reuses a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitId(pub u64);

/// A request that is to be answered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// Which one.
    pub id: WaitId,
    /// With what.
    pub outcome: Outcome,
}

/// How a wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The decision on each write, in the order in which they were given.
    Produce(Vec<Result<(), ReplicaError>>),
    /// Read now, whatever there is.
    Fetch,
}

/// All waiting requests of a broker.
#[derive(Debug, Default)]
pub struct WaitingRoom {
    waits: BTreeMap<WaitId, (Option<Time>, Wait)>,
    by_partition: BTreeMap<PartitionId, BTreeSet<WaitId>>,
    by_deadline: BTreeSet<(Time, WaitId)>,
}

impl WaitingRoom {
    /// Takes a request in, or releases it at once when there is nothing to wait for.
    ///
    /// Without a deadline it waits as long as it takes.
    pub fn enter(
        &mut self,
        env: &Env,
        replicas: &dyn Replicas,
        id: WaitId,
        deadline: Option<Time>,
        mut wait: Wait,
    ) -> Option<Released> {
        if let Some(outcome) = wait.check(env, replicas, None) {
            return Some(Released { id, outcome });
        }
        for partition in wait.partitions() {
            self.by_partition.entry(partition).or_default().insert(id);
        }
        self.by_deadline.extend(deadline.map(|at| (at, id)));
        self.waits.insert(id, (deadline, wait));
        None
    }

    /// Something about `partition` has changed: releases what waited for it, oldest first.
    pub fn touch(
        &mut self,
        env: &Env,
        replicas: &dyn Replicas,
        partition: PartitionId,
        released: &mut Vec<Released>,
    ) {
        let Some(ids) = self.by_partition.get(&partition) else { return };
        for id in ids.clone() {
            let Some((_, wait)) = self.waits.get_mut(&id) else { continue };
            if let Some(outcome) = wait.check(env, replicas, Some(partition)) {
                self.leave(id);
                released.push(Released { id, outcome });
            }
        }
    }

    /// Releases what has reached its deadline.
    pub fn expire(&mut self, now: Time, released: &mut Vec<Released>) {
        while let Some((_, id)) = self.by_deadline.first().copied().filter(|(at, _)| *at <= now) {
            let Some((_, wait)) = self.leave(id) else { continue };
            released.push(Released { id, outcome: wait.at_deadline() });
        }
    }

    /// Forgets a request, for example because its connection is gone.
    pub fn forget(&mut self, id: WaitId) {
        self.leave(id);
    }

    fn leave(&mut self, id: WaitId) -> Option<(Option<Time>, Wait)> {
        let (deadline, wait) = self.waits.remove(&id)?;
        if let Some(at) = deadline {
            self.by_deadline.remove(&(at, id));
        }
        for partition in wait.partitions() {
            let Some(ids) = self.by_partition.get_mut(&partition) else { continue };
            ids.remove(&id);
            if ids.is_empty() {
                self.by_partition.remove(&partition);
            }
        }
        Some((deadline, wait))
    }
}
