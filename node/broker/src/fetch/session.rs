//! One fetch session: its partitions, what was told of them last, and whose turn it is.

use std::collections::BTreeMap;
use std::ops::Bound;

use highwater_node_core::types::{LeaderEpoch, Offset, Time};

use crate::replicas::TopicRef;

/// A partition as the client names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub topic: TopicRef,
    pub index: i32,
}

/// What the client wants of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub offset: Offset,
    pub max_bytes: usize,
    pub leader_epoch: Option<LeaderEpoch>,
    pub last_fetched_epoch: Option<LeaderEpoch>,
}

/// What an answer said of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub high_watermark: i64,
    pub log_start: i64,
}

#[derive(Debug)]
struct Partition {
    wanted: Wanted,
    /// `None` until it was told without an error.
    told: Option<Told>,
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    /// The epoch that its next request carries.
    pub epoch: i32,
    pub last_used: Time,
    /// True when it names topics by id.
    pub by_id: bool,
    partitions: BTreeMap<Key, Partition>,
    /// The partition that got records last; the one after it is the next to come first.
    served: Option<Key>,
}

impl Session {
    pub fn new(now: Time, by_id: bool, named: &[(Key, Wanted)]) -> Session {
        let fresh = |wanted| Partition { wanted, told: None };
        let partitions = named.iter().map(|(key, wanted)| (key.clone(), fresh(*wanted))).collect();
        Session { epoch: 1, last_used: now, by_id, partitions, served: None }
    }

    /// Takes in what an incremental request adds, changes and forgets.
    pub fn update(&mut self, now: Time, named: &[(Key, Wanted)], forgotten: &[Key]) {
        for (key, wanted) in named {
            let fresh = || Partition { wanted: *wanted, told: None };
            self.partitions.entry(key.clone()).or_insert_with(fresh).wanted = *wanted;
        }
        for key in forgotten {
            self.partitions.remove(key);
        }
        self.epoch = if self.epoch == i32::MAX { 1 } else { self.epoch + 1 };
        self.last_used = now;
    }

    /// How many partitions it has.
    pub fn len(&self) -> usize {
        self.partitions.len()
    }

    /// All partitions, beginning after the one that was served last, so that none starves.
    pub fn in_turn(&self) -> Vec<(Key, Wanted)> {
        let one = |(key, partition): (&Key, &Partition)| (key.clone(), partition.wanted);
        match &self.served {
            None => self.partitions.iter().map(one).collect(),
            Some(last) => {
                let after = (Bound::Excluded(last), Bound::Unbounded);
                let before = (Bound::Unbounded, Bound::Included(last));
                let after = self.partitions.range(after);
                after.chain(self.partitions.range(before)).map(one).collect()
            }
        }
    }

    /// Notes what an answer says of a partition; true when the client has not been told so before.
    pub fn is_news(&mut self, key: &Key, told: Option<Told>, has_records: bool) -> bool {
        if has_records {
            self.served = Some(key.clone());
        }
        let Some(partition) = self.partitions.get_mut(key) else { return true };
        let known = std::mem::replace(&mut partition.told, told);
        has_records || told.is_none() || known != told
    }
}
