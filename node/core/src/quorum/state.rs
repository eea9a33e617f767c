//! What a member of the quorum remembers over a restart, and who the voters are.

use std::collections::BTreeSet;

use crate::types::{BrokerId, LeaderEpoch};

/// The voters of the metadata quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voters(pub BTreeSet<BrokerId>);

/// The durable state of one member: Kafka's `quorum-state` file (rule 69).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuorumState {
    /// The newest epoch that this member knows.
    pub epoch: LeaderEpoch,
    /// The leader of that epoch, if known.
    pub leader: Option<BrokerId>,
    /// Whom this member voted for in that epoch.
    pub voted: Option<BrokerId>,
}

impl Voters {
    /// Whether this voter is a majority on its own.
    pub fn is_majority(&self, voter: BrokerId) -> bool {
        self.0.contains(&voter) && self.0.len() == 1
    }
}
