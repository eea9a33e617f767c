//! ISR changes on their way to the controller (rule 22).

use highwater_wire::messages::alter_partition_response::{PartitionData, TopicData};
use highwater_wire::messages::{AlterPartitionRequest, AlterPartitionResponse};
use highwater_wire::{ErrorCode, Request, RequestKind};
use uuid::Uuid;

use super::bench::{DataBench, NAME, TOPIC, batch};
use crate::startup::Startup;

/// The followers are silent for longer than the lag limit; gives the proposal that follows.
fn proposal(data: &mut DataBench) -> (u64, Request) {
    data.create(NAME, TOPIC, &[1, 2, 3]);
    data.produce(1, batch(None));
    assert_eq!(data.produced(), Some((0, 0)));
    // a broker that was not started has no timers, so the test does their work
    data.bench.now = data.bench.now.plus_ms(1001);
    check(data);
    let conn = data.bench.open_dialed();
    let asked = data.bench.asked(conn);
    (conn, asked)
}

fn check(data: &mut DataBench) {
    data.bench.step(crate::effect::Input::Tick);
    let node = &mut data.bench.node;
    crate::replicas::step(node, super::bench::partition(0), |replica, env, out| {
        replica.check_isr(env, out);
    });
    data.bench.step(crate::effect::Input::Tick);
}

fn isr(request: &Request) -> Vec<i32> {
    let RequestKind::AlterPartition(body) = &request.body else { panic!("{request:?}") };
    let partition = &body.topics[0].partitions[0];
    partition.new_isr_with_epochs.iter().map(|member| member.broker_id.0).collect()
}

fn answer(data: &mut DataBench, conn: u64, asked: &Request, partition: PartitionData) {
    let topic = TopicData::default()
        .with_topic_id(Uuid::from_u128(TOPIC.0))
        .with_partitions(vec![partition.with_partition_index(0)]);
    let response = AlterPartitionResponse::default().with_topics(vec![topic]);
    data.bench.answer::<AlterPartitionRequest>(conn, asked, response);
}

fn high_watermark(data: &DataBench) -> i64 {
    let replica = data.bench.node.broker().replicas.replica(super::bench::partition(0));
    replica.unwrap().bounds().high_watermark.0
}

#[test]
fn a_committed_removal_moves_the_high_watermark() {
    let mut data = DataBench::new();
    let (conn, asked) = proposal(&mut data);
    assert_eq!(isr(&asked), [1]);
    assert_eq!(high_watermark(&data), 0, "rule 22: not before the controller has answered");
    let committed = PartitionData::default()
        .with_leader_id(1.into())
        .with_leader_epoch(0)
        .with_isr(vec![1.into()])
        .with_partition_epoch(1);
    answer(&mut data, conn, &asked, committed);
    assert_eq!(high_watermark(&data), 1);
}

#[test]
fn an_unknown_outcome_is_proposed_again_after_a_while_and_keeps_the_safer_set() {
    let mut data = DataBench::new();
    let (conn, asked) = proposal(&mut data);
    let unknown = PartitionData::default().with_error_code(ErrorCode::UnknownServerError.code());
    answer(&mut data, conn, &asked, unknown);
    assert!(data.bench.sent(conn).is_empty(), "not at once");
    assert_eq!(high_watermark(&data), 0);
    data.bench.pass_ms(50);
    let again = data.bench.asked(conn);
    assert_eq!(isr(&again), [1]);
}

#[test]
fn a_refused_change_is_not_repeated_by_itself() {
    let mut data = DataBench::new();
    let (conn, asked) = proposal(&mut data);
    let refused = PartitionData::default().with_error_code(ErrorCode::IneligibleReplica.code());
    answer(&mut data, conn, &asked, refused);
    data.bench.pass_ms(1000);
    assert!(data.bench.sent(conn).is_empty());
    assert_eq!(high_watermark(&data), 0);
}

#[test]
fn another_controller_is_looked_for_when_this_one_is_none() {
    let mut data = DataBench::new();
    let (conn, asked) = proposal(&mut data);
    let none = AlterPartitionResponse::default().with_error_code(ErrorCode::NotController.code());
    data.bench.answer::<AlterPartitionRequest>(conn, &asked, none);
    assert!(data.bench.closed(conn), "the channel is dialled anew");
    data.bench.pass_ms(100);
    let conn = data.bench.open_dialed();
    let again = data.bench.asked(conn);
    assert_eq!(isr(&again), [1]);
}

#[test]
fn rule_24_the_lag_is_checked_every_half_of_the_limit() {
    let mut data = DataBench::new();
    data.create(NAME, TOPIC, &[1, 2, 3]);
    data.produce(1, batch(None));
    assert_eq!(data.produced(), Some((0, 0)));
    let startup = Startup { logs: Vec::new(), clean: true, previous_epoch: None };
    crate::replicas::upkeep::start(&mut data.bench.node, &startup);
    // After 500 and after 1000 ms the followers are within the limit.
    data.bench.pass_ms(1499);
    assert_eq!(data.bench.dialed(), None);
    data.bench.pass_ms(1);
    let conn = data.bench.open_dialed();
    assert_eq!(isr(&data.bench.asked(conn)), [1]);
}
