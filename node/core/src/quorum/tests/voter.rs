//! Elections, commits and fetches at a voter.

use super::*;
use crate::error::ErrorCode;
use crate::replica::EpochEnd;
use crate::rule::metadata_commit::{Progress, committed_end};
use crate::types::Time;

fn saved(epoch: i32) -> QuorumState {
    QuorumState { epoch: LeaderEpoch(epoch), leader: Some(OWN), voted: Some(OWN) }
}

fn fetch(quorum: &mut Quorum, replica: i32, offset: i64, last: i32, current: i32) -> FetchAnswer {
    let known = |epoch: i32| (epoch >= 0).then_some(LeaderEpoch(epoch));
    let fetch = MetadataFetch {
        replica: BrokerId(replica),
        offset: Offset(offset),
        last_epoch: known(last),
        current_epoch: known(current),
    };
    let answer = quorum.fetch(Time(5), fetch, &mut Vec::new());
    quorum.validate();
    answer
}

#[test]
fn rule_69_the_vote_is_durable_before_the_leadership() {
    let mut quorum = quorum(&[9]);
    let out = start(&mut quorum, QuorumState::default(), 0, &[]);
    assert_eq!(out, [QuorumOutput::SaveState(saved(1))]);
    assert!(!quorum.is_leader());
    let out = tell(&mut quorum, QuorumInput::StateSaved);
    assert_eq!(out, [QuorumOutput::BecomeLeader(LeaderEpoch(1))]);
    assert!(quorum.is_leader());
}

#[test]
fn rule_72_a_restarted_leader_claims_a_new_epoch() {
    let mut lone = quorum(&[9]);
    let out = start(&mut lone, saved(4), 10, &[(1, 0), (4, 6)]);
    assert_eq!(out, [QuorumOutput::SaveState(saved(5))]);
    // also when its state file is older than its log
    let mut lone = quorum(&[9]);
    let out = start(&mut lone, saved(2), 10, &[(1, 0), (4, 6)]);
    assert_eq!(out, [QuorumOutput::SaveState(saved(5))]);
}

#[test]
fn a_voter_among_several_does_not_elect_itself() {
    let mut quorum = quorum(&[7, 8, 9]);
    assert_eq!(start(&mut quorum, QuorumState::default(), 0, &[]), []);
    assert_eq!(tell(&mut quorum, QuorumInput::StateSaved), []);
    assert_eq!(quorum.epoch_start(), None);
    let refused = FetchAnswer::Refused(ErrorCode::NotLeaderOrFollower);
    assert_eq!(fetch(&mut quorum, 1, 0, -1, -1), refused);
}

#[test]
fn rule_70_only_what_is_synced_is_committed() {
    let mut quorum = leader();
    assert_eq!(quorum.high_watermark(), Offset(1));
    assert_eq!(tell(&mut quorum, QuorumInput::Appended(Offset(5))), []);
    assert_eq!(quorum.high_watermark(), Offset(1));
    let out = tell(&mut quorum, QuorumInput::Synced(Offset(4)));
    assert_eq!(out, [QuorumOutput::HighWatermark(Offset(4))]);
    assert_eq!(tell(&mut quorum, QuorumInput::Synced(Offset(3))), []);
}

#[test]
fn rule_71_a_majority_past_the_first_record_of_the_epoch_commits() {
    let commit = |synced: &[i64], start: i64| {
        let synced: Vec<Offset> = synced.iter().copied().map(Offset).collect();
        committed_end(Progress { synced: &synced, epoch_start: Offset(start) })
    };
    assert_eq!(commit(&[7], 6), Some(Offset(7)));
    assert_eq!(commit(&[6], 6), None);
    assert_eq!(commit(&[9, 7, 8], 6), Some(Offset(8)));
    assert_eq!(commit(&[9, 6, 6], 6), None);
    assert_eq!(commit(&[9, 9, 6, 6], 5), Some(Offset(6)));
    assert_eq!(commit(&[9, 9, 6, 6], 6), None);
}

#[test]
fn rule_71_votes_of_fetching_voters_commit() {
    let mut quorum = leader();
    quorum.voters.0.extend([BrokerId(7), BrokerId(8)]);
    tell(&mut quorum, QuorumInput::Appended(Offset(5)));
    assert_eq!(tell(&mut quorum, QuorumInput::Synced(Offset(5))), []);
    fetch(&mut quorum, 1, 1, 1, 1); // an observer
    assert_eq!(quorum.high_watermark(), Offset(1));
    let answer = fetch(&mut quorum, 7, 4, 1, 1);
    assert_eq!(quorum.high_watermark(), Offset(4));
    let (end, high_watermark) = (Offset(5), Offset(4));
    assert_eq!(answer, FetchAnswer::Read { end, high_watermark });
}

#[test]
fn rule_75_observers_get_only_what_is_committed() {
    let mut quorum = leader();
    tell(&mut quorum, QuorumInput::Appended(Offset(5)));
    let (end, high_watermark) = (Offset(1), Offset(1));
    assert_eq!(fetch(&mut quorum, 1, 0, -1, 1), FetchAnswer::Read { end, high_watermark });
    let members: Vec<(BrokerId, Member)> = quorum.members(Time(0)).collect();
    assert_eq!(members.len(), 1);
    assert_eq!((members[0].0, members[0].1.log_end), (BrokerId(1), Offset(0)));
    // a reader that is no member leaves no trace
    fetch(&mut quorum, -1, 0, -1, -1);
    assert_eq!(quorum.members(Time(0)).count(), 1);
}

#[test]
fn observers_that_are_gone_are_forgotten_and_never_too_many_remembered() {
    let mut quorum = leader();
    let later = Time(0).plus_ms(300_001);
    for id in 100..2_000 {
        fetch(&mut quorum, id, 0, -1, 1);
    }
    assert_eq!(quorum.members(Time(0)).count(), 1_000);
    assert_eq!(quorum.members(later).count(), 0);
    let (replica, offset) = (BrokerId(1), Offset(0));
    let one = MetadataFetch { replica, offset, last_epoch: None, current_epoch: None };
    quorum.fetch(later, one, &mut Vec::new());
    assert_eq!(quorum.members.len(), 1);
}

#[test]
fn rule_12_fetches_of_another_epoch_are_refused() {
    let mut quorum = leader();
    let refused = |code| FetchAnswer::Refused(code);
    assert_eq!(fetch(&mut quorum, 1, 0, -1, 0), refused(ErrorCode::FencedLeaderEpoch));
    assert_eq!(fetch(&mut quorum, 1, 0, -1, 2), refused(ErrorCode::UnknownLeaderEpoch));
    assert_eq!(fetch(&mut quorum, 1, 2, -1, 1), refused(ErrorCode::OffsetOutOfRange));
}

#[test]
fn rule_9_a_fetcher_with_another_history_is_told_where_it_ends() {
    let mut quorum = quorum(&[9]);
    start(&mut quorum, saved(4), 10, &[(1, 0), (4, 6)]);
    tell(&mut quorum, QuorumInput::StateSaved);
    let diverging = |epoch, end| {
        FetchAnswer::Diverging(EpochEnd { epoch: LeaderEpoch(epoch), end: Offset(end) })
    };
    assert_eq!(fetch(&mut quorum, 1, 8, 1, 5), diverging(1, 6));
    assert_eq!(fetch(&mut quorum, 1, 8, 3, 5), diverging(1, 6));
    assert_eq!(fetch(&mut quorum, 1, 8, 7, 5), diverging(5, 10));
    assert!(matches!(fetch(&mut quorum, 1, 8, 4, 5), FetchAnswer::Read { .. }));
}
