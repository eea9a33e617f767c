//! Tests of fetch sessions (KIP-227), and of how much one answer holds.

use highwater_node_core::types::{Offset, Time};
use highwater_wire::ErrorCode;
use highwater_wire::messages::FetchRequest;

use super::plan::max_bytes;
use super::session::{Key, Told, Wanted};
use super::sessions::{FetchSessions, NO_SESSION, SessionFetch, SessionRequest};
use crate::replicas::TopicRef;
use crate::testing::Bench;

fn key(index: i32) -> Key {
    Key { topic: TopicRef::Name("t".to_owned()), index }
}

fn wanted(offset: i64) -> Wanted {
    Wanted { offset: Offset(offset), max_bytes: 100, leader_epoch: None, last_fetched_epoch: None }
}

fn request(id: i32, epoch: i32, named: &[(i32, i64)]) -> SessionRequest {
    let named = named.iter().map(|(index, offset)| (key(*index), wanted(*offset))).collect();
    SessionRequest { id, epoch, named, forgotten: Vec::new(), by_id: false }
}

fn take(sessions: &mut FetchSessions, request: SessionRequest) -> Result<SessionFetch, ErrorCode> {
    sessions.take(Time(0), request, 7)
}

fn open(sessions: &mut FetchSessions, named: &[(i32, i64)]) -> i32 {
    take(sessions, request(NO_SESSION, 0, named)).unwrap().id
}

fn indexes(fetch: &SessionFetch) -> Vec<i32> {
    fetch.partitions.iter().map(|(key, _)| key.index).collect()
}

#[test]
fn a_full_fetch_opens_a_session_and_later_ones_need_not_repeat_it() {
    let mut sessions = FetchSessions::new(10);
    let id = open(&mut sessions, &[(0, 5), (1, 6)]);
    assert_eq!(id, 7);
    let fetch = take(&mut sessions, request(id, 1, &[(1, 9)])).unwrap();
    assert!(fetch.incremental);
    assert_eq!(fetch.partitions, [(key(0), wanted(5)), (key(1), wanted(9))]);
}

#[test]
fn wrong_ids_epochs_and_ways_of_naming_are_refused() {
    let mut sessions = FetchSessions::new(10);
    let id = open(&mut sessions, &[(0, 0)]);
    let refused = |result: Result<SessionFetch, ErrorCode>| result.unwrap_err();
    let unknown = take(&mut sessions, request(id + 1, 1, &[]));
    assert_eq!(refused(unknown), ErrorCode::FetchSessionIdNotFound);
    let wrong_epoch = take(&mut sessions, request(id, 5, &[]));
    assert_eq!(refused(wrong_epoch), ErrorCode::InvalidFetchSessionEpoch);
    let by_id = SessionRequest { by_id: true, ..request(id, 1, &[]) };
    assert_eq!(refused(take(&mut sessions, by_id)), ErrorCode::FetchSessionTopicIdError);
    assert!(take(&mut sessions, request(id, 1, &[])).is_ok(), "the right one still works");
}

#[test]
fn a_final_fetch_closes_the_session_and_is_answered_without_one() {
    let mut sessions = FetchSessions::new(10);
    let id = open(&mut sessions, &[(0, 0)]);
    let last = take(&mut sessions, request(id, -1, &[(0, 0)])).unwrap();
    assert_eq!((last.id, last.incremental, indexes(&last)), (NO_SESSION, false, vec![0]));
    let gone = take(&mut sessions, request(id, 1, &[]));
    assert_eq!(gone.unwrap_err(), ErrorCode::FetchSessionIdNotFound);
}

#[test]
fn forgotten_partitions_are_gone_and_with_the_last_one_the_session() {
    let mut sessions = FetchSessions::new(10);
    let id = open(&mut sessions, &[(0, 0), (1, 0)]);
    let without =
        |index, epoch| SessionRequest { forgotten: vec![key(index)], ..request(id, epoch, &[]) };
    assert_eq!(indexes(&take(&mut sessions, without(0, 1)).unwrap()), [1]);
    assert_eq!(take(&mut sessions, without(1, 2)).unwrap().id, NO_SESSION);
    assert!(take(&mut sessions, request(id, 3, &[])).is_err());
}

#[test]
fn who_was_served_last_comes_last() {
    let mut sessions = FetchSessions::new(10);
    let id = open(&mut sessions, &[(0, 0), (1, 0), (2, 0)]);
    let told = Some(Told { high_watermark: 1, log_start: 0 });
    sessions.get_mut(id).unwrap().is_news(&key(0), told, true);
    let fetch = take(&mut sessions, request(id, 1, &[])).unwrap();
    assert_eq!(indexes(&fetch), [1, 2, 0]);
}

#[test]
fn news_are_records_errors_and_moved_watermarks() {
    let mut sessions = FetchSessions::new(10);
    let id = open(&mut sessions, &[(0, 0)]);
    let session = sessions.get_mut(id).unwrap();
    let told = |high_watermark| Some(Told { high_watermark, log_start: 0 });
    assert!(session.is_news(&key(0), told(1), false), "told for the first time");
    assert!(!session.is_news(&key(0), told(1), false));
    assert!(session.is_news(&key(0), told(1), true), "records");
    assert!(session.is_news(&key(0), told(2), false), "the high watermark moved");
    assert!(session.is_news(&key(0), None, false), "an error");
    assert!(session.is_news(&key(0), None, false), "an error is told each time");
    assert!(session.is_news(&key(0), told(2), false), "the error is over");
}

#[test]
fn without_room_there_is_no_session_unless_an_idle_one_gives_way() {
    let mut sessions = FetchSessions::new(1);
    open(&mut sessions, &[(0, 0)]);
    assert_eq!(open(&mut sessions, &[(0, 0)]), NO_SESSION);
    let later = Time(0).plus_ms(120_001);
    let fetch = sessions.take(later, request(NO_SESSION, 0, &[(0, 0)]), 9).unwrap();
    assert_eq!(fetch.id, 9);
}

#[test]
fn an_id_is_positive_and_free() {
    let mut sessions = FetchSessions::new(10);
    let mut id = |wish| sessions.take(Time(0), request(0, 0, &[(0, 0)]), wish).unwrap().id;
    assert_eq!((id(-7), id(i32::MIN), id(i32::MAX), id(i32::MAX)), (i32::MAX - 6, 1, i32::MAX, 2));
}

#[test]
fn followers_too_get_at_most_what_the_node_gives() {
    let bench = Bench::broker();
    let most = bench.node.config.replication.answer_max_bytes;
    let asked = |max, replica: i32| {
        let request = FetchRequest::default().with_max_bytes(max).with_replica_id(replica.into());
        max_bytes(&bench.node, &request)
    };
    for replica in [-1, 2] {
        assert_eq!((asked(i32::MAX, replica), asked(100, replica)), (most, 100));
    }
}

#[test]
fn sessions_remember_so_many_partitions_and_no_more() {
    let mut sessions = FetchSessions::new(10);
    let many = |from: i32, count: i32| (from..from + count).map(|i| (i, 0)).collect::<Vec<_>>();
    let first = open(&mut sessions, &many(0, 150_000));
    assert_ne!(first, NO_SESSION);
    assert_eq!(open(&mut sessions, &many(0, 50_001)), NO_SESSION, "answered without a session");
    let second = open(&mut sessions, &many(0, 50_000));
    assert_ne!(second, NO_SESSION);
    assert!(take(&mut sessions, request(first, 1, &many(0, 10))).is_ok(), "nothing is added");
    let more = take(&mut sessions, request(second, 1, &many(60_000, 1)));
    assert_eq!(more.unwrap_err(), ErrorCode::FetchSessionIdNotFound);
}
