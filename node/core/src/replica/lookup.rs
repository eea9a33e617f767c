//! How the fetcher and the waiting room find a replica.

use std::collections::BTreeMap;

use super::Replica;
use crate::types::PartitionId;

/// A broker's replicas.
pub trait Replicas {
    /// The replica of this partition, if the broker has one.
    fn replica(&self, partition: PartitionId) -> Option<&Replica>;
}

impl Replicas for BTreeMap<PartitionId, Replica> {
    fn replica(&self, partition: PartitionId) -> Option<&Replica> {
        self.get(&partition)
    }
}
