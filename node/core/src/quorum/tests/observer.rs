//! A broker's copy of the metadata log.

use super::*;
use crate::replica::EpochEnd;

fn observer(log_end: i64, log: &[(i32, i64)]) -> Observer {
    Observer::new(BrokerId(1), Offset(log_end), epochs(log))
}

fn span(base: i64, end: i64, epoch: i32) -> BatchSpan {
    BatchSpan { base: Offset(base), end: Offset(end), epoch: LeaderEpoch(epoch) }
}

fn end(epoch: i32, end: i64) -> EpochEnd {
    EpochEnd { epoch: LeaderEpoch(epoch), end: Offset(end) }
}

#[test]
fn rule_75_nothing_is_committed_before_a_leader_says_so() {
    let mut observer = observer(5, &[(1, 0)]);
    assert_eq!(observer.high_watermark(), None);
    assert_eq!(observer.on_records(&[], Offset(3)), Ok(Offset(3)));
    assert_eq!(observer.on_records(&[span(5, 7, 1)], Offset(9)), Ok(Offset(7)));
    assert_eq!(observer.on_records(&[], Offset(6)), Ok(Offset(7)));
    observer.validate();
}

#[test]
fn rule_13_batches_go_on_where_the_log_ends() {
    let mut observer = observer(5, &[(1, 0)]);
    let gap = ObserverError::Gap { log_end: Offset(5), base: Offset(6) };
    assert_eq!(observer.on_records(&[span(6, 7, 1)], Offset(7)), Err(gap));
}

#[test]
fn it_fetches_from_its_end_with_what_it_knows() {
    let mut observer = observer(5, &[(1, 0), (3, 4)]);
    observer.on_leader(LeaderEpoch(2), Some(BrokerId(8)));
    assert_eq!(observer.leader(), None, "older epochs are no news");
    observer.on_leader(LeaderEpoch(4), Some(BrokerId(9)));
    observer.on_leader(LeaderEpoch(4), None);
    assert_eq!((observer.epoch(), observer.leader()), (LeaderEpoch(4), Some(OWN)));
    let fetch = observer.fetch();
    assert_eq!(fetch.offset, Offset(5));
    assert_eq!(fetch.last_epoch, Some(LeaderEpoch(3)));
    assert_eq!(fetch.current_epoch, Some(LeaderEpoch(4)));
}

#[test]
fn rule_9_a_diverging_log_is_cut_to_the_common_history() {
    let mut observer = observer(10, &[(1, 0), (3, 6)]);
    assert_eq!(observer.on_diverging(end(1, 4)), Ok(Offset(4)));
    assert_eq!(observer.fetch().last_epoch, Some(LeaderEpoch(1)));
    observer.validate();
}

#[test]
fn rule_72_what_is_committed_is_never_cut() {
    let mut observer = observer(10, &[(1, 0), (3, 6)]);
    observer.on_records(&[], Offset(8)).unwrap();
    let refused = ObserverError::CutsCommitted { cut: Offset(4), committed: Offset(8) };
    assert_eq!(observer.on_diverging(end(1, 4)), Err(refused));
    assert_eq!(observer.log_end(), Offset(10));
}
