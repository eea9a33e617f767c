//! Rules 69 and 72: the epoch in which a restarted voter may stand for election.

use crate::types::LeaderEpoch;

/// The type of [`first_epoch`].
pub type FirstEpoch = fn(LeaderEpoch, Option<LeaderEpoch>) -> LeaderEpoch;

/// The first epoch that a voter may claim after a start: above the one that its state file holds
/// and above that of the last batch in its log, so that it never goes on in its old leadership.
pub fn first_epoch(saved: LeaderEpoch, log: Option<LeaderEpoch>) -> LeaderEpoch {
    let newest = log.map_or(saved, |epoch| epoch.max(saved));
    LeaderEpoch(newest.0 + 1)
}
