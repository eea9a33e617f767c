//! Random requests in random order: the state stays valid, and a replay of the log gives it again.

use proptest::prelude::*;

use super::world::{World, activate, register};
use crate::controller::request::*;
use crate::controller::{Input, Output, Reply, Token};
use crate::metadata::{Delta, Image, Replay};
use crate::rule::Rules;
use crate::script::Line;
use crate::types::*;

#[derive(Clone, Debug)]
enum Step {
    Register { broker: i32, run: u8 },
    Heartbeat { broker: i32, stop: bool, fence: bool },
    Create { replicas: Vec<i32>, unclean: bool },
    Delete { topic: u8 },
    Alter { broker: i32, topic: u8, isr: Vec<i32>, stale: bool },
    Elect { topic: u8, unclean: bool },
    Wait { ms: u16 },
    Commit,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let broker = 1..4i32;
    let some = proptest::sample::subsequence(vec![1, 2, 3], 1..=3).prop_shuffle();
    let step = prop_oneof![
        1 => (broker.clone(), 0..3u8).prop_map(|(broker, run)| Step::Register { broker, run }),
        4 => (broker.clone(), proptest::bool::weighted(0.1), proptest::bool::weighted(0.1))
            .prop_map(|(broker, stop, fence)| Step::Heartbeat { broker, stop, fence }),
        1 => (some.clone(), any::<bool>())
            .prop_map(|(replicas, unclean)| Step::Create { replicas, unclean }),
        1 => (0..4u8).prop_map(|topic| Step::Delete { topic }),
        4 => (broker, 0..4u8, some, proptest::bool::weighted(0.2)).prop_map(
            |(broker, topic, isr, stale)| Step::Alter { broker, topic, isr, stale }
        ),
        1 => (0..4u8, any::<bool>()).prop_map(|(topic, unclean)| Step::Elect { topic, unclean }),
        2 => (0..6000u16).prop_map(|ms| Step::Wait { ms }),
        2 => Just(Step::Commit),
    ];
    proptest::collection::vec(step, 1..120)
}

/// The topics that exist, by name, and the one of this number among them.
fn topic(image: &Image, number: u8) -> Option<String> {
    let count = image.topic_ids.len().max(1);
    image.topic_ids.keys().nth(usize::from(number) % count).cloned()
}

fn request(image: &Image, step: &Step, serial: usize) -> Option<Request> {
    Some(match step {
        Step::Register { broker, run } => {
            let text = format!("register {broker} run={}{run}", broker);
            Request::RegisterBroker(register(&Line::parse(&text)))
        }
        Step::Heartbeat { broker, stop, fence } => Request::Heartbeat(Heartbeat {
            broker: BrokerId(*broker),
            broker_epoch: image.brokers.get(&BrokerId(*broker))?.epoch,
            metadata_offset: Offset(image.end.0 - 1),
            want_fence: *fence,
            want_shutdown: *stop,
        }),
        Step::Create { replicas, unclean } => Request::CreateTopics(CreateTopics {
            topics: vec![NewTopic {
                name: format!("t{serial}"),
                partitions: -1,
                replication_factor: -1,
                assignments: vec![(0, replicas.iter().map(|id| BrokerId(*id)).collect())],
                configs: vec![(
                    "unclean.leader.election.enable".to_owned(),
                    Some(unclean.to_string()),
                )],
            }],
            validate_only: false,
            seed: serial as u64,
        }),
        Step::Delete { topic: number } => {
            Request::DeleteTopics(vec![TopicRef::Name(topic(image, *number)?)])
        }
        Step::Alter { broker, topic: number, isr, stale } => {
            Request::AlterPartition(alter(image, *broker, &topic(image, *number)?, isr, *stale)?)
        }
        Step::Elect { topic: number, unclean } => Request::ElectLeaders(ElectLeaders {
            kind: if *unclean { ElectionKind::Unclean } else { ElectionKind::Preferred },
            partitions: Some(vec![PartitionRef { topic: topic(image, *number)?, index: 0 }]),
        }),
        Step::Wait { .. } | Step::Commit => return None,
    })
}

fn alter(
    image: &Image,
    broker: i32,
    topic: &str,
    isr: &[i32],
    stale: bool,
) -> Option<AlterPartition> {
    let broker = BrokerId(broker);
    let (topic, entry) = image.topic_named(topic)?;
    let state = &entry.partitions[&0].state;
    let member = |id: &i32| (BrokerId(*id), image.brokers.get(&BrokerId(*id)).map(|b| b.epoch));
    let change = IsrChange {
        partition: PartitionId { topic, index: 0 },
        leader_epoch: state.leader_epoch,
        isr: isr.iter().map(member).collect(),
        recovering: false,
        partition_epoch: PartitionEpoch(state.partition_epoch.0 - i32::from(stale)),
    };
    let broker_epoch = image.brokers.get(&broker)?.epoch;
    Some(AlterPartition { broker, broker_epoch, changes: vec![change] })
}

/// The controller's log so far, replayed from nothing.
fn replay(log: &[Output]) -> Image {
    let mut replay = Replay::default();
    for output in log {
        let Output::Append { base, records } = output else { continue };
        for (at, record) in (base.0..).zip(records) {
            replay.apply(Offset(at), record.clone(), &mut Delta::default()).unwrap();
        }
    }
    replay.image().clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn rule_75_any_run_stays_valid_and_replays_to_the_same_image(steps in steps()) {
        let mut log = Vec::new();
        let mut controller = activate(Time(0), Rules::default(), Image::default(), &mut log);
        let mut now = Time(0);
        let mut asked = 0;
        for (serial, step) in steps.iter().enumerate() {
            if let Step::Wait { ms } = step {
                now = now.plus_ms(u64::from(*ms));
                controller.step(now, Input::Tick, &mut log);
            }
            if matches!(step, Step::Commit) {
                controller.step(now, Input::Committed(controller.image().end), &mut log);
            }
            if let Some(request) = request(controller.image(), step, serial) {
                asked += 1;
                let token = Token(serial as u64);
                controller.step(now, Input::Request { token, request }, &mut log);
            }
            controller.validate();
            prop_assert_eq!(&replay(&log), controller.image());
        }
        controller.step(now, Input::Committed(controller.image().end), &mut log);
        let answered = log.iter().filter(|out| matches!(out, Output::Reply { .. })).count();
        prop_assert_eq!(answered, asked, "each request is answered once");
    }
}

#[test]
fn rule_46_blocks_of_producer_ids_never_overlap() {
    let mut world = World::new();
    world.execute(&Line::parse("register 1"));
    let mut next = 0;
    for _ in 0..5 {
        let broker_epoch = world.controller.image().brokers[&BrokerId(1)].epoch;
        let broker = BrokerId(1);
        let outputs = world.request(Request::AllocateProducerIds { broker, broker_epoch });
        let Some(Output::Reply { reply: Reply::AllocateProducerIds(Ok(block)), .. }) =
            outputs.last()
        else {
            panic!("no block in {outputs:?}")
        };
        assert!(block.first >= next, "block {block:?} begins below {next}");
        next = block.first + i64::from(block.len);
        world.execute(&Line::parse("failover"));
    }
}
