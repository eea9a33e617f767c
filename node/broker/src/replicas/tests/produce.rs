//! Produce and Fetch: acknowledgements, refusals, long polls.

use bytes::Bytes;
use highwater_log::{Command, Done};
use highwater_node_core::replica::REMEMBERED_BATCHES;
use highwater_wire::ErrorCode;

use super::bench::{CLIENT, DataBench, NAME, TOPIC, batch};
use crate::effect::{ConnId, Effect, Input};

const CONSUMER: (i32, i64) = (-1, -1);
const ALL: i16 = -1;

fn sole_replica() -> DataBench {
    let mut data = DataBench::new();
    data.create(NAME, TOPIC, &[1]);
    data
}

fn three_replicas() -> DataBench {
    let mut data = DataBench::new();
    data.create(NAME, TOPIC, &[1, 2, 3]);
    data
}

#[test]
fn rule_01_offsets_are_dense_and_the_record_is_served_as_it_was_written() {
    let mut data = sole_replica();
    for offset in 0..3 {
        data.produce(ALL, batch(None));
        assert_eq!(data.produced(), Some((0, offset)));
    }
    data.fetch(CONSUMER, 1, 0);
    assert_eq!(data.fetched(), Some((0, 3, 2 * batch(None).len())));
}

#[test]
fn rule_36_nothing_is_answered_before_the_disk_has_it() {
    let mut data = sole_replica();
    data.produce(1, batch(None));
    let is_answer = |effect: &Effect| matches!(effect, Effect::Send { .. });
    assert!(!data.bench.out.iter().any(is_answer), "the write is under way");
    assert_eq!(data.produced(), Some((0, 0)));
}

#[test]
fn rule_36_acks_all_waits_for_the_followers() {
    let mut data = three_replicas();
    data.produce(ALL, batch(None));
    assert_eq!(data.produced(), None);
    data.confirm(2, 1);
    assert_eq!(data.produced(), None);
    data.confirm(3, 1);
    assert_eq!(data.produced(), Some((0, 0)));
}

#[test]
fn rule_36_lost_leadership_ends_the_wait_with_an_error() {
    let mut data = three_replicas();
    data.produce(ALL, batch(None));
    assert_eq!(data.produced(), None);
    data.elect(2);
    assert_eq!(data.produced(), Some((ErrorCode::NotLeaderOrFollower.code(), -1)));
}

#[test]
fn rule_45_the_store_remembers_of_producers_what_the_replica_does() {
    let mut data = sole_replica();
    let count = REMEMBERED_BATCHES as i32 + 2;
    for sequence in 0..count {
        data.produce(ALL, batch(Some((7, sequence))));
        assert_eq!(data.produced(), Some((0, i64::from(sequence))));
    }
    let hosted = data.bench.node.broker().replicas.hosted.iter().next().unwrap().1;
    let cut = Command::Truncate { log: hosted.log, to: i64::from(count) };
    let Ok(Done::Truncated(state)) = data.store.execute(0, cut) else { panic!("no cut") };
    let replica = hosted.replica.as_ref().unwrap();
    assert_eq!(&crate::replicas::convert::producers(&state), replica.producers());
    assert_eq!(state.producers[0].batches.len(), REMEMBERED_BATCHES);
}

#[test]
fn rule_43_a_repeat_waits_for_the_followers_too() {
    let mut data = three_replicas();
    data.produce(ALL, batch(Some((7, 0))));
    data.bench.pass_ms(1000);
    assert_eq!(data.produced(), Some((ErrorCode::RequestTimedOut.code(), -1)));
    data.produce(ALL, batch(Some((7, 0))));
    assert_eq!(data.produced(), None);
    data.confirm(2, 1);
    assert_eq!(data.produced(), None);
    data.confirm(3, 1);
    assert_eq!(data.produced(), Some((0, 0)));
}

#[test]
fn rule_37_the_time_of_the_request_ends_the_wait() {
    let mut data = three_replicas();
    data.produce(ALL, batch(None));
    assert_eq!(data.produced(), None);
    data.bench.pass_ms(1000);
    assert_eq!(data.produced(), Some((ErrorCode::RequestTimedOut.code(), -1)));
}

#[test]
fn rule_42_a_repeat_gets_the_first_offset_and_is_not_written() {
    let mut data = sole_replica();
    for _ in 0..2 {
        data.produce(ALL, batch(Some((7, 0))));
        assert_eq!(data.produced(), Some((0, 0)));
    }
    data.produce(ALL, batch(Some((7, 2))));
    assert_eq!(data.produced(), Some((ErrorCode::OutOfOrderSequenceNumber.code(), -1)));
    data.fetch(CONSUMER, 0, 0);
    assert_eq!(data.fetched(), Some((0, 1, batch(None).len())));
}

#[test]
fn rule_40_what_is_refused_leaves_nothing_behind() {
    let mut data = sole_replica();
    let mut broken = batch(None).to_vec();
    let last = broken.len() - 1;
    broken[last] ^= 1;
    let cases = [
        (2, batch(None), ErrorCode::InvalidRequiredAcks),
        (ALL, Bytes::from(broken), ErrorCode::CorruptMessage),
        (ALL, Bytes::new(), ErrorCode::InvalidRecord),
        (ALL, [batch(None), batch(None)].concat().into(), ErrorCode::InvalidRecord),
    ];
    for (acks, batch, error) in cases {
        data.produce(acks, batch);
        assert_eq!(data.produced(), Some((error.code(), -1)));
    }
    data.produce_to("unknown", ALL, batch(None));
    assert_eq!(data.produced(), Some((ErrorCode::UnknownTopicOrPartition.code(), -1)));
    data.produce(ALL, batch(None));
    assert_eq!(data.produced(), Some((0, 0)), "the first offset is still free");
}

#[test]
fn rule_36_acks_0_is_not_answered_and_an_error_closes_the_connection() {
    let mut data = sole_replica();
    data.produce(0, batch(None));
    assert_eq!(data.produced(), None);
    data.fetch(CONSUMER, 0, 0);
    assert_eq!(data.fetched(), Some((0, 1, batch(None).len())), "it was stored");
    data.produce_to("unknown", 0, batch(None));
    assert!(data.bench.closed(CLIENT));
}

#[test]
fn a_long_poll_ends_with_the_first_record_or_with_its_time() {
    let mut data = sole_replica();
    data.fetch(CONSUMER, 0, 700);
    assert_eq!(data.fetched(), None);
    data.bench.pass_ms(699);
    assert_eq!(data.fetched(), None);
    data.bench.pass_ms(1);
    assert_eq!(data.fetched(), Some((0, 0, 0)));
}

#[test]
fn rule_07_above_the_log_end_is_out_of_range_at_once() {
    let mut data = sole_replica();
    data.fetch(CONSUMER, 1, 700);
    assert_eq!(data.fetched(), Some((ErrorCode::OffsetOutOfRange.code(), -1, 0)));
}

#[test]
fn nobody_waits_for_a_connection_that_is_gone() {
    let mut data = sole_replica();
    data.fetch(CONSUMER, 0, i32::MAX);
    assert_eq!(data.fetched(), None);
    let before = format!("{:?}", data.bench.node.broker().replicas);
    assert!(before.contains("waiting: 1"), "{before}");
    data.bench.step(Input::Closed { conn: ConnId(CLIENT) });
    let after = format!("{:?}", data.bench.node.broker().replicas);
    assert!(after.contains("waiting: 0"), "{after}");
}
