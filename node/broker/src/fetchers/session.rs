//! The follower's side of a fetch session: what the leader remembers need not be said again
//! (KIP-227).

use std::collections::BTreeMap;

use highwater_node_core::fetcher::Asked;
use highwater_node_core::replica::FollowerPosition;
use highwater_node_core::types::PartitionId;
use highwater_wire::ErrorCode;

/// No session.
const NO_SESSION: i32 = 0;
/// The epoch of a request that opens a session, and closes the one that it names.
const INITIAL_EPOCH: i32 = 0;

/// One session, of one lane.
#[derive(Debug, Default)]
pub(super) struct Session {
    id: i32,
    /// The epoch of the next request.
    epoch: i32,
    /// What the leader knows of each partition.
    known: BTreeMap<PartitionId, FollowerPosition>,
}

/// What a request says beside what the leader remembers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub id: i32,
    pub epoch: i32,
    /// Partitions to be named, in order.
    pub named: Vec<Asked>,
    /// Partitions that are asked for no more.
    pub forgotten: Vec<PartitionId>,
}

impl Session {
    /// What to say to ask for exactly these partitions.
    pub(super) fn ask(&mut self, asked: &[Asked]) -> Said {
        let wanted: BTreeMap<PartitionId, FollowerPosition> =
            asked.iter().map(|one| (one.partition, one.position)).collect();
        let (named, forgotten) = match self.epoch {
            INITIAL_EPOCH => (asked.to_vec(), Vec::new()),
            _ => {
                let is_new = |one: &&Asked| self.known.get(&one.partition) != Some(&one.position);
                let gone = self.known.keys().filter(|id| !wanted.contains_key(id));
                (asked.iter().filter(is_new).copied().collect(), gone.copied().collect())
            }
        };
        self.known = wanted;
        Said { id: self.id, epoch: self.epoch, named, forgotten }
    }

    /// Whether an answer leaves out what has no news.
    pub(super) fn is_incremental(&self) -> bool {
        self.epoch != INITIAL_EPOCH
    }

    /// Takes in an answer, which names the session that there is from now on.
    pub(super) fn answered(&mut self, id: i32) {
        let goes_on = !self.is_incremental() || id == self.id;
        if id == NO_SESSION || !goes_on {
            return self.begin_anew();
        }
        self.id = id;
        self.epoch = if self.epoch == i32::MAX { 1 } else { self.epoch + 1 };
    }

    /// Asks for everything next time: nobody knows what the leader remembers, or something that it
    /// told was not taken in.
    pub(super) fn begin_anew(&mut self) {
        self.epoch = INITIAL_EPOCH;
    }
}

/// Whether an error concerns nothing but the session.
pub(super) fn is_of_session(error_code: i16) -> bool {
    matches!(
        ErrorCode::from_code(error_code),
        Some(
            ErrorCode::FetchSessionIdNotFound
                | ErrorCode::InvalidFetchSessionEpoch
                | ErrorCode::FetchSessionTopicIdError
        )
    )
}

#[cfg(test)]
mod tests {
    use highwater_node_core::types::{BrokerId, LeaderEpoch, Offset, TopicId};

    use super::*;

    fn asked(index: i32, offset: i64) -> Asked {
        let partition = PartitionId { topic: TopicId(1), index };
        let position = FollowerPosition {
            leader: BrokerId(2),
            leader_epoch: LeaderEpoch(1),
            offset: Offset(offset),
            last_fetched_epoch: None,
            log_start: Offset(0),
        };
        Asked { partition, position }
    }

    /// Id, epoch, named partitions, forgotten partitions.
    fn said(session: &mut Session, all: &[Asked]) -> (i32, i32, Vec<i32>, Vec<i32>) {
        let Said { id, epoch, named, forgotten } = session.ask(all);
        let named = named.iter().map(|one| one.partition.index).collect();
        (id, epoch, named, forgotten.iter().map(|id| id.index).collect())
    }

    /// What followers say of their LEO moves the leader's HW (rule 16): a change is never left
    /// out, whatever the leader remembers.
    #[test]
    fn after_the_first_request_only_changes_are_said() {
        let mut session = Session::default();
        assert_eq!(said(&mut session, &[asked(0, 5), asked(1, 5)]), (0, 0, vec![0, 1], vec![]));
        session.answered(7);
        assert_eq!(said(&mut session, &[asked(0, 5), asked(1, 6)]), (7, 1, vec![1], vec![]));
        session.answered(7);
        assert_eq!(said(&mut session, &[asked(0, 5), asked(1, 6)]), (7, 2, vec![], vec![]));
        session.answered(7);
        assert_eq!(said(&mut session, &[asked(1, 6), asked(2, 0)]), (7, 3, vec![2], vec![0]));
    }

    /// Rule 16: a LEO that the leader does not know of is said again.
    #[test]
    fn a_session_that_is_not_given_or_gone_is_asked_for_in_full() {
        let mut session = Session::default();
        session.ask(&[asked(0, 5)]);
        session.answered(0);
        assert_eq!(said(&mut session, &[asked(0, 5)]), (0, 0, vec![0], vec![]));
        session.answered(7);
        session.ask(&[asked(0, 5)]);
        session.begin_anew();
        assert_eq!(said(&mut session, &[asked(0, 5)]), (7, 0, vec![0], vec![]), "and closes it");
        session.answered(9);
        session.ask(&[asked(0, 5)]);
        session.answered(8);
        assert!(!session.is_incremental(), "an answer of a session that was not asked for");
    }

    #[test]
    fn epochs_go_on_with_1_after_the_largest() {
        let mut session = Session { id: 7, epoch: i32::MAX, known: BTreeMap::new() };
        session.answered(7);
        assert_eq!(said(&mut session, &[]), (7, 1, vec![], vec![]));
    }
}
