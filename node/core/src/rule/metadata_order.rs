//! Rule 25: which partition state replaces which.

use crate::types::PartitionState;

/// Rule 25 as an entry of the table.
pub type Supersedes = fn(new: &PartitionState, old: &PartitionState) -> bool;

/// An older partition epoch or leader epoch is ignored.
pub fn supersedes(new: &PartitionState, old: &PartitionState) -> bool {
    new.partition_epoch >= old.partition_epoch && new.leader_epoch >= old.leader_epoch
}
