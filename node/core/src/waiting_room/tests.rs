//! Tests of the waiting room: when requests are released, and in which order.

use std::collections::BTreeMap;

use super::*;
use crate::replica::{
    Acks, BatchMeta, BrokerView, Brokers, FetchQuery, Isolation, LoadedLog, Outputs, Reader,
    Replica, ReplicaConfig,
};
use crate::rule::Rules;
use crate::types::{
    BrokerEpoch, BrokerId, LeaderEpoch, Offset, PartitionEpoch, PartitionState, TopicId,
};

struct World {
    room: WaitingRoom,
    replicas: BTreeMap<PartitionId, Replica>,
    rules: Rules,
    brokers: Brokers,
    out: Outputs,
}

fn partition(index: i32) -> PartitionId {
    PartitionId { topic: TopicId(1), index }
}

impl World {
    /// Broker 1 leads partitions 0 and 1 in epoch 1; their followers are 2 and 3.
    fn new() -> World {
        let view = BrokerView { epoch: BrokerEpoch(1), fenced: false, shutting_down: false };
        let mut world = World {
            room: WaitingRoom::default(),
            replicas: BTreeMap::new(),
            rules: Rules::default(),
            brokers: (1..=3).map(|id| (BrokerId(id), view)).collect(),
            out: Vec::new(),
        };
        let config = ReplicaConfig { lag_limit_ms: 1000, min_isr: 2 };
        for id in [partition(0), partition(1)] {
            let replica =
                Replica::new(id, BrokerId(1), config, &Rules::default(), LoadedLog::default());
            world.replicas.insert(id, replica);
            world.lead(id, 1, 1);
        }
        world
    }

    fn step<T>(
        &mut self,
        id: PartitionId,
        step: impl FnOnce(&mut Replica, &Env, &mut Outputs) -> T,
    ) -> T {
        let env = Env { now: Time(0), rules: &self.rules, brokers: &self.brokers };
        step(self.replicas.get_mut(&id).unwrap(), &env, &mut self.out)
    }

    fn lead(&mut self, id: PartitionId, leader: i32, epoch: i32) {
        let state = PartitionState {
            replicas: (1..=3).map(BrokerId).collect(),
            isr: (1..=3).map(BrokerId).collect(),
            leader: Some(BrokerId(leader)),
            leader_epoch: LeaderEpoch(epoch),
            partition_epoch: PartitionEpoch(epoch),
            recovering: false,
        };
        self.step(id, |replica, env, out| replica.apply_metadata(env, state, out));
    }

    fn append(&mut self, id: PartitionId, acks: Acks) -> PendingWrite {
        let batch = BatchMeta {
            base_offset: Offset(0),
            last_offset: Offset(0),
            leader_epoch: LeaderEpoch(-1),
            max_timestamp_ms: 0,
            size_bytes: 100,
            producer: None,
        };
        let at = self.step(id, |replica, env, _| replica.append(env, &batch, acks)).unwrap();
        PendingWrite { partition: id, last_offset: at.last_offset, acks, decided: None }
    }

    fn written(&mut self, id: PartitionId) {
        self.step(id, |replica, env, out| replica.written(env, replica.appended_end(), out));
    }

    fn confirm(&mut self, id: PartitionId, follower: i32, at: i64) {
        let query = FetchQuery {
            reader: Reader::Follower { id: BrokerId(follower), epoch: BrokerEpoch(1) },
            offset: Offset(at),
            leader_epoch: None,
            last_fetched_epoch: None,
        };
        self.step(id, |replica, env, out| replica.fetch(env, &query, out)).unwrap();
    }

    fn enter(&mut self, id: u64, deadline_ms: u64, wait: Wait) -> Option<Released> {
        let env = Env { now: Time(0), rules: &self.rules, brokers: &self.brokers };
        let deadline = Some(Time(0).plus_ms(deadline_ms));
        self.room.enter(&env, &self.replicas, WaitId(id), deadline, wait)
    }

    fn touch(&mut self, id: PartitionId) -> Vec<Released> {
        let env = Env { now: Time(0), rules: &self.rules, brokers: &self.brokers };
        let mut released = Vec::new();
        self.room.touch(&env, &self.replicas, id, &mut released);
        released
    }

    fn expire(&mut self, ms: u64) -> Vec<Released> {
        let mut released = Vec::new();
        self.room.expire(Time(0).plus_ms(ms), &mut released);
        released
    }
}

fn consumer(at: i64) -> FetchQuery {
    FetchQuery {
        reader: Reader::Consumer(Isolation::HighWatermark),
        offset: Offset(at),
        leader_epoch: None,
        last_fetched_epoch: None,
    }
}

fn produced(id: u64, answers: &[Result<(), ReplicaError>]) -> Released {
    Released { id: WaitId(id), outcome: Outcome::Produce(answers.to_vec()) }
}

#[test]
fn rule_36_all_copies_are_awaited_and_all_writes_of_the_request() {
    let mut world = World::new();
    let writes = vec![world.append(partition(0), Acks::All), world.append(partition(1), Acks::All)];
    assert_eq!(world.enter(1, 100, Wait::Produce(writes)), None);
    for index in [0, 1] {
        world.written(partition(index));
        world.confirm(partition(index), 2, 1);
        assert_eq!(world.touch(partition(index)), []);
    }
    world.confirm(partition(0), 3, 1);
    assert_eq!(world.touch(partition(0)), [], "the other write waits");
    world.confirm(partition(1), 3, 1);
    assert_eq!(world.touch(partition(1)), [produced(1, &[Ok(()), Ok(())])]);
    assert_eq!(world.expire(100), [], "it is answered once");
}

#[test]
fn rule_36_acks_1_waits_for_the_disk_only() {
    let mut world = World::new();
    let write = world.append(partition(0), Acks::Leader);
    assert_eq!(world.enter(1, 100, Wait::Produce(vec![write])), None);
    world.written(partition(0));
    assert_eq!(world.touch(partition(0)), [produced(1, &[Ok(())])]);
}

#[test]
fn rule_36_lost_leadership_ends_the_wait_with_an_error() {
    let mut world = World::new();
    let write = world.append(partition(0), Acks::All);
    world.written(partition(0));
    world.enter(1, 100, Wait::Produce(vec![write]));
    world.lead(partition(0), 2, 2);
    let refused = Err(ReplicaError::NotLeaderOrFollower);
    assert_eq!(world.touch(partition(0)), [produced(1, &[refused])]);
}

#[test]
fn mutant_hw_26_ends_the_wait_with_ok() {
    let mut world = World::new();
    (crate::mutant::find("HW-26").unwrap().apply)(&mut world.rules);
    let write = world.append(partition(0), Acks::All);
    world.written(partition(0));
    world.enter(1, 100, Wait::Produce(vec![write]));
    world.lead(partition(0), 2, 2);
    assert_eq!(world.touch(partition(0)), [produced(1, &[Ok(())])]);
}

#[test]
fn rule_37_the_deadline_is_a_time_out_and_keeps_what_was_decided() {
    let mut world = World::new();
    let writes = vec![world.append(partition(0), Acks::All), world.append(partition(1), Acks::All)];
    world.written(partition(0));
    world.enter(1, 100, Wait::Produce(writes));
    world.confirm(partition(0), 2, 1);
    world.confirm(partition(0), 3, 1);
    world.touch(partition(0));
    assert_eq!(world.expire(99), []);
    let late = Err(ReplicaError::RequestTimedOut);
    assert_eq!(world.expire(100), [produced(1, &[Ok(()), late])]);
}

#[test]
fn a_deleted_partition_ends_the_wait() {
    let mut world = World::new();
    let write = world.append(partition(0), Acks::All);
    world.enter(1, 100, Wait::Produce(vec![write]));
    world.replicas.remove(&partition(0));
    let gone = Err(ReplicaError::UnknownTopicOrPartition);
    assert_eq!(world.touch(partition(0)), [produced(1, &[gone])]);
}

#[test]
fn a_fetch_waits_for_bytes_over_all_its_partitions() {
    let mut world = World::new();
    let queries = vec![(partition(0), consumer(0)), (partition(1), consumer(0))];
    assert_eq!(world.enter(1, 100, Wait::Fetch { min_bytes: 200, queries }), None);
    for index in [0, 1] {
        world.append(partition(index), Acks::All);
        world.written(partition(index));
        world.confirm(partition(index), 2, 1);
        assert_eq!(world.touch(partition(index)), [], "rule 58: nothing is committed yet");
    }
    world.confirm(partition(0), 3, 1);
    assert_eq!(world.touch(partition(0)), [], "100 of 200 bytes");
    world.confirm(partition(1), 3, 1);
    let woken = Released { id: WaitId(1), outcome: Outcome::Fetch };
    assert_eq!(world.touch(partition(1)), [woken]);
}

#[test]
fn an_error_is_told_at_once() {
    let mut world = World::new();
    let queries = vec![(partition(0), consumer(0))];
    world.enter(1, 100, Wait::Fetch { min_bytes: 1, queries: queries.clone() });
    world.lead(partition(0), 2, 2);
    let woken = Released { id: WaitId(1), outcome: Outcome::Fetch };
    assert_eq!(world.touch(partition(0)), [woken]);
    let at_once = world.enter(2, 100, Wait::Fetch { min_bytes: 1, queries });
    assert_eq!(at_once.map(|r| r.id), Some(WaitId(2)));
}

#[test]
fn the_oldest_is_released_first_and_the_forgotten_never() {
    let mut world = World::new();
    for id in [3, 1, 2] {
        let queries = vec![(partition(0), consumer(0))];
        world.enter(id, 100, Wait::Fetch { min_bytes: 1, queries });
    }
    world.room.forget(WaitId(2));
    let ids: Vec<u64> = world.expire(100).iter().map(|r| r.id.0).collect();
    assert_eq!(ids, [1, 3]);
}
