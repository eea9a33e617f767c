//! Rule 12: requests that carry a leader epoch are refused unless it is this replica's.

use crate::replica::ReplicaError;
use crate::types::LeaderEpoch;

/// Rule 12 as an entry of the table.
pub type CheckLeaderEpoch = fn(asked: LeaderEpoch, own: LeaderEpoch) -> Result<(), ReplicaError>;

/// Lower is fenced, higher is unknown here as yet.
pub fn check_leader_epoch(asked: LeaderEpoch, own: LeaderEpoch) -> Result<(), ReplicaError> {
    match asked.cmp(&own) {
        std::cmp::Ordering::Less => Err(ReplicaError::FencedLeaderEpoch),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(ReplicaError::UnknownLeaderEpoch),
    }
}
