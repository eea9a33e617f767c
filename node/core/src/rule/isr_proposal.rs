//! Rule 22, the controller's side: which ISR proposals are judged at all.

use crate::error::ErrorCode;
use crate::types::{BrokerId, LeaderEpoch, PartitionEpoch, PartitionState};

/// Who proposes, and from which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposer {
    /// The broker that takes itself for the leader.
    pub broker: BrokerId,
    /// The leadership that it believes in.
    pub leader_epoch: LeaderEpoch,
    /// The state that it starts from.
    pub partition_epoch: PartitionEpoch,
}

/// The type of [`check_proposer`].
pub type CheckProposer = fn(&PartitionState, Proposer) -> Result<(), ErrorCode>;

/// Accepts only the current leader at the current epochs. A proposal from newer epochs shows that
/// this controller is the one that is behind: NOT_CONTROLLER.
pub fn check_proposer(state: &PartitionState, proposer: Proposer) -> Result<(), ErrorCode> {
    if proposer.leader_epoch > state.leader_epoch
        || proposer.partition_epoch > state.partition_epoch
    {
        return Err(ErrorCode::NotController);
    }
    if proposer.leader_epoch < state.leader_epoch {
        return Err(ErrorCode::FencedLeaderEpoch);
    }
    if state.leader != Some(proposer.broker) {
        return Err(ErrorCode::InvalidRequest);
    }
    if proposer.partition_epoch < state.partition_epoch {
        return Err(ErrorCode::InvalidUpdateVersion);
    }
    Ok(())
}
