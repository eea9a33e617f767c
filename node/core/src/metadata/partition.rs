//! One partition in the metadata: its state, and what only the controller needs.

use super::record::{DirectoryId, PartitionChangeRecord, PartitionRecord};
use crate::types::{BrokerId, LeaderEpoch, PartitionEpoch, PartitionState};

/// One partition as the metadata log describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// What leader and followers act on.
    pub state: PartitionState,
    /// The log directory of each replica, in assignment order.
    pub directories: Vec<DirectoryId>,
    /// The eligible leader replicas (rule 29).
    pub elr: Vec<BrokerId>,
    /// The last known leader, when ISR and ELR are empty (rule 28).
    pub last_known_elr: Vec<BrokerId>,
    /// Replicas that a reassignment takes away.
    pub removing: Vec<BrokerId>,
    /// Replicas that a reassignment brings.
    pub adding: Vec<BrokerId>,
}

impl Partition {
    /// The partition that this record creates.
    pub fn create(record: &PartitionRecord) -> Partition {
        Partition {
            state: PartitionState {
                replicas: record.replicas.clone(),
                isr: record.isr.clone(),
                leader: record.leader,
                leader_epoch: record.leader_epoch,
                partition_epoch: record.partition_epoch,
                recovering: record.recovering,
            },
            directories: record.directories.clone(),
            elr: record.elr.clone(),
            last_known_elr: record.last_known_elr.clone(),
            removing: record.removing.clone(),
            adding: record.adding.clone(),
        }
    }

    /// Applies a change: the partition epoch rises, and the leader epoch when a leader is named
    /// (rule 25).
    pub fn change(&mut self, record: &PartitionChangeRecord) {
        let state = &mut self.state;
        state.partition_epoch = PartitionEpoch(state.partition_epoch.0 + 1);
        if let Some(leader) = record.leader {
            state.leader = leader;
            state.leader_epoch = LeaderEpoch(state.leader_epoch.0 + 1);
        }
        set(&mut state.isr, &record.isr);
        set(&mut state.replicas, &record.replicas);
        if let Some(recovering) = record.recovering {
            state.recovering = recovering;
        }
        set(&mut self.directories, &record.directories);
        set(&mut self.elr, &record.elr);
        set(&mut self.last_known_elr, &record.last_known_elr);
        set(&mut self.removing, &record.removing);
        set(&mut self.adding, &record.adding);
    }

    /// The preferred leader: the first assigned replica.
    pub fn preferred(&self) -> Option<BrokerId> {
        self.state.replicas.first().copied()
    }
}

fn set<T: Clone>(target: &mut Vec<T>, change: &Option<Vec<T>>) {
    if let Some(value) = change {
        target.clone_from(value);
    }
}
