//! Tests of the fetcher: answers that come late, twice, or from the wrong epoch.

use std::collections::BTreeMap;

use super::*;
use crate::replica::{Brokers, LoadedLog, ReplicaConfig};
use crate::rule::Rules;
use crate::types::{PartitionEpoch, PartitionState, TopicId};

const PARTITION: PartitionId = PartitionId { topic: TopicId(1), index: 0 };
const LEADER: BrokerId = BrokerId(2);

struct World {
    fetcher: Fetcher,
    replicas: BTreeMap<PartitionId, Replica>,
    rules: Rules,
    brokers: Brokers,
    now: Time,
    out: Outputs,
}

impl World {
    /// Broker 1 follows broker 2 in epoch 1, with an empty log.
    fn new() -> World {
        let config = ReplicaConfig { lag_limit_ms: 1000, min_isr: 1 };
        let replica =
            Replica::new(PARTITION, BrokerId(1), config, &Rules::default(), LoadedLog::default());
        let mut world = World {
            fetcher: Fetcher::new(LEADER, 100),
            replicas: BTreeMap::from([(PARTITION, replica)]),
            rules: Rules::default(),
            brokers: Brokers::new(),
            now: Time(0),
            out: Vec::new(),
        };
        world.lead(LEADER, 1);
        world
    }

    fn lead(&mut self, leader: BrokerId, epoch: i32) {
        let state = PartitionState {
            replicas: vec![BrokerId(1), LEADER],
            isr: vec![leader],
            leader: Some(leader),
            leader_epoch: LeaderEpoch(epoch),
            partition_epoch: PartitionEpoch(epoch),
            recovering: false,
        };
        let env = Env { now: self.now, rules: &self.rules, brokers: &self.brokers };
        let replica = self.replicas.get_mut(&PARTITION).unwrap();
        replica.apply_metadata(&env, state, &mut self.out);
        match replica.follows() {
            Some((_, epoch)) => self.fetcher.add(PARTITION, epoch),
            None => self.fetcher.remove(PARTITION),
        }
    }

    fn ask(&mut self) -> Option<Request> {
        self.fetcher.next_request(self.now, &self.replicas)
    }

    fn ask_one(&mut self) -> Asked {
        self.ask().expect("there is something to fetch").asked[0]
    }

    fn answer(&mut self, asked: &Asked, answer: Fetched) -> Taken {
        let env = Env { now: self.now, rules: &self.rules, brokers: &self.brokers };
        let replica = self.replicas.get_mut(&PARTITION).unwrap();
        let taken = self.fetcher.answered(&env, asked, replica, answer, &mut self.out);
        replica.validate();
        if self.fetcher.busy[0] {
            self.fetcher.request_ended(self.now, Lane(0), false);
        }
        taken
    }

    fn written(&mut self) {
        let env = Env { now: self.now, rules: &self.rules, brokers: &self.brokers };
        let replica = self.replicas.get_mut(&PARTITION).unwrap();
        replica.written(&env, replica.appended_end(), &mut self.out);
    }

    fn log_end(&self) -> Offset {
        self.replicas[&PARTITION].appended_end()
    }
}

fn batch(base: i64, epoch: i32) -> BatchMeta {
    BatchMeta {
        base_offset: Offset(base),
        last_offset: Offset(base + 1),
        leader_epoch: LeaderEpoch(epoch),
        max_timestamp_ms: 0,
        size_bytes: 100,
        producer: None,
    }
}

fn records(batches: &[BatchMeta]) -> Fetched<'_> {
    Fetched::Records { batches, high_watermark: Offset(0) }
}

#[test]
fn rule_16_the_next_fetch_waits_for_the_disk() {
    let mut world = World::new();
    let asked = world.ask_one();
    assert_eq!(world.ask(), None, "a partition is asked for once at a time");
    assert_eq!(world.answer(&asked, records(&[batch(0, 1), batch(2, 1)])), Taken::Write);
    assert_eq!(world.ask(), None, "the disk has not confirmed");
    world.written();
    assert_eq!(world.ask_one().position.offset, Offset(4));
}

#[test]
fn rule_10_an_answer_of_an_earlier_epoch_is_not_used() {
    let mut world = World::new();
    let asked = world.ask_one();
    world.lead(LEADER, 2);
    assert_eq!(world.answer(&asked, records(&[batch(0, 1)])), Taken::Nothing);
    assert_eq!(world.log_end(), Offset(0));
}

#[test]
fn rule_10_a_truncation_answer_is_not_used_by_a_leader() {
    let mut world = World::new();
    let asked = world.ask_one();
    world.answer(&asked, records(&[batch(0, 1)]));
    world.written();
    let asked = world.ask_one();
    world.lead(BrokerId(1), 2);
    let end = EpochEnd { epoch: LeaderEpoch(0), end: Offset(0) };
    assert_eq!(world.answer(&asked, Fetched::Diverging(end)), Taken::Nothing);
    assert_eq!(world.log_end(), Offset(2), "rule 4: a leader's log is not cut");
}

#[test]
fn a_partition_that_comes_late_does_not_wait_for_the_request_under_way() {
    let mut world = World::new();
    let first = world.ask().expect("there is something to fetch");
    world.lead(LEADER, 2);
    let second = world.ask().expect("the new epoch is asked for at once");
    assert_eq!((first.lane, second.lane), (Lane(0), Lane(1)));
    world.fetcher.request_ended(world.now, first.lane, false);
    assert_eq!(world.ask(), None, "the old request's end frees nothing that the new one asks for");
    world.fetcher.request_ended(world.now, second.lane, false);
    assert_eq!(world.ask().map(|request| request.lane), Some(Lane(0)));
}

#[test]
fn rule_13_batches_that_do_not_go_on_from_the_log_end_are_refused() {
    for batches in [&[batch(0, 1), batch(1, 1)][..], &[batch(0, 2), batch(2, 1)], &[batch(-1, 1)]] {
        let mut world = World::new();
        let asked = world.ask_one();
        assert_eq!(world.answer(&asked, records(batches)), Taken::Nothing);
        assert_eq!(world.log_end(), Offset(0));
    }
}

#[test]
fn rule_3_a_batch_of_an_older_epoch_than_the_last_one_is_refused() {
    let mut world = World::new();
    let asked = world.ask_one();
    world.answer(&asked, records(&[batch(0, 1)]));
    world.written();
    let asked = world.ask_one();
    assert_eq!(world.answer(&asked, records(&[batch(2, 0)])), Taken::Nothing);
    assert_eq!(world.answer(&asked, records(&[batch(2, 1)])), Taken::Write);
}

#[test]
fn rule_13_the_same_answer_twice_is_used_once() {
    let mut world = World::new();
    let asked = world.ask_one();
    assert_eq!(world.answer(&asked, records(&[batch(0, 1)])), Taken::Write);
    world.written();
    assert_eq!(world.answer(&asked, records(&[batch(0, 1)])), Taken::Nothing);
    assert_eq!(world.log_end(), Offset(2));
}

#[test]
fn rule_11_divergence_moves_neither_high_watermark_nor_log_start() {
    let mut world = World::new();
    let asked = world.ask_one();
    world.answer(&asked, records(&[batch(0, 1)]));
    world.written();
    let before = world.replicas[&PARTITION].bounds();
    let asked = world.ask_one();
    world.out.clear();
    world.answer(&asked, Fetched::Diverging(EpochEnd { epoch: LeaderEpoch(0), end: Offset(0) }));
    assert_eq!(world.out, [crate::replica::Output::Truncate { to: Offset(0) }]);
    assert_eq!(world.replicas[&PARTITION].bounds(), before);
    assert_eq!(world.ask(), None, "a cut is under way");
}

#[test]
fn errors_wait_for_the_back_off() {
    let mut world = World::new();
    let asked = world.ask_one();
    world.answer(&asked, Fetched::Refused);
    assert_eq!(world.ask(), None);
    let wake = world.fetcher.next_wake(world.now).expect("it waits for a time");
    world.now = wake;
    world.ask_one();
    world.fetcher.request_ended(world.now, Lane(0), true);
    assert_eq!(world.ask(), None, "the whole request failed");
    world.now = world.fetcher.next_wake(world.now).expect("it waits for a time");
    assert_eq!(world.now, wake.plus_ms(100));
    world.ask_one();
}

#[test]
fn a_leader_that_has_not_heard_of_its_epoch_is_asked_again_at_once() {
    let mut world = World::new();
    let asked = world.ask_one();
    world.answer(&asked, Fetched::TooEarly);
    assert_eq!(world.ask(), None);
    world.now = world.now.plus_ms(TOO_EARLY_MS);
    assert_eq!(world.ask_one(), asked);
}

#[test]
fn rule_14_out_of_range_asks_for_the_range_before_anything_is_cut() {
    let mut world = World::new();
    let asked = world.ask_one();
    assert_eq!(world.answer(&asked, Fetched::OutOfRange), Taken::AskRange);
    assert_eq!(world.ask(), None, "not fetched meanwhile");
    let env = Env { now: world.now, rules: &world.rules, brokers: &world.brokers };
    let replica = world.replicas.get_mut(&PARTITION).unwrap();
    let range = LeaderRange { start: Offset(5), end: Offset(9) };
    world.fetcher.range_answered(&env, &asked, replica, Some(range), &mut world.out);
    assert!(world.out.contains(&crate::replica::Output::TruncateFully { start: Offset(5) }));
}

#[test]
fn a_range_that_could_not_be_had_or_holds_the_position_is_asked_for_again_later() {
    for range in [None, Some(LeaderRange { start: Offset(0), end: Offset(9) })] {
        let mut world = World::new();
        let asked = world.ask_one();
        world.answer(&asked, Fetched::OutOfRange);
        let env = Env { now: world.now, rules: &world.rules, brokers: &world.brokers };
        let replica = world.replicas.get_mut(&PARTITION).unwrap();
        world.fetcher.range_answered(&env, &asked, replica, range, &mut world.out);
        assert_eq!(world.ask(), None);
        world.now = world.fetcher.next_wake(world.now).expect("it waits for a time");
        assert_eq!(world.ask_one(), asked);
    }
}

#[test]
fn a_partition_that_is_never_asked_for_hides_no_back_off() {
    let mut world = World::new();
    let failed = PartitionId { index: 1, ..PARTITION };
    world.fetcher.add(failed, LeaderEpoch(1));
    world.fetcher.back_off(world.now, PARTITION, 50);
    assert_eq!(world.fetcher.next_wake(world.now), Some(world.now.plus_ms(50)));
}
