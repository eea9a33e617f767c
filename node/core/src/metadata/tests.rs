//! Replay of records: transactions of records, deltas, and logs that are broken.

use super::record::*;
use super::*;
use crate::types::*;

const TOPIC: TopicId = TopicId(7);

fn topic(name: &str, id: u128) -> Record {
    Record::Topic(TopicRecord { name: name.to_owned(), id: TopicId(id) })
}

fn partition(index: i32) -> Record {
    Record::Partition(PartitionRecord {
        partition: PartitionId { topic: TOPIC, index },
        replicas: vec![BrokerId(1)],
        directories: vec![DirectoryId(1)],
        isr: vec![BrokerId(1)],
        removing: Vec::new(),
        adding: Vec::new(),
        leader: None,
        recovering: false,
        leader_epoch: LeaderEpoch(0),
        partition_epoch: PartitionEpoch(0),
        elr: Vec::new(),
        last_known_elr: Vec::new(),
    })
}

fn config(value: Option<&str>) -> Record {
    let (resource, value) = (Resource::Topic("t".into()), value.map(str::to_owned));
    Record::Config(ConfigRecord { resource, name: "p".into(), value })
}

/// A replay and the offset of its next record.
type State = (Replay, Offset);

/// Replays records; gives what they changed.
fn replay((replay, next): &mut State, records: &[Record]) -> Result<Delta, ReplayError> {
    let mut delta = Delta::default();
    for record in records {
        let at = *next;
        *next = at.next();
        replay.apply(at, record.clone(), &mut delta)?;
    }
    replay.image().validate();
    Ok(delta)
}

#[test]
fn records_between_begin_and_end_apply_together_or_not_at_all() {
    let mut state = State::default();
    let begin = Record::BeginTransaction(Some("why".into()));
    let delta = replay(&mut state, &[begin.clone(), topic("t", 7), partition(0)]).unwrap();
    assert!(delta == Delta::default() && state.0.image().topics.is_empty());
    let delta = replay(&mut state, &[Record::EndTransaction]).unwrap();
    assert_eq!(delta.partitions.len(), 1);
    assert_eq!(state.0.image().end, Offset(4));
    let dropped = [begin, topic("u", 8), Record::AbortTransaction(None), Record::NoOp];
    let delta = replay(&mut state, &dropped).unwrap();
    assert!(delta == Delta::default() && state.0.image().topics.len() == 1);
    assert_eq!(state.0.image().end, Offset(8));
}

#[test]
fn transactions_out_of_place_are_refused() {
    for broken in [Record::EndTransaction, Record::AbortTransaction(None)] {
        let refused = replay(&mut State::default(), &[broken]);
        assert_eq!(refused, Err(ReplayError::Transaction { at: Offset(0) }));
    }
    let begin = || Record::BeginTransaction(None);
    let refused = replay(&mut State::default(), &[begin(), begin()]);
    assert_eq!(refused, Err(ReplayError::Transaction { at: Offset(1) }));
}

#[test]
fn a_topic_that_came_and_went_leaves_no_partition_to_look_at() {
    let mut state = State::default();
    let gone = [topic("t", 7), config(Some("v")), partition(0), Record::RemoveTopic(TOPIC)];
    let delta = replay(&mut state, &gone).unwrap();
    assert!(delta.partitions.is_empty() && delta.configs.is_empty());
    assert_eq!(delta.removed_topics.get(&TOPIC).map(String::as_str), Some("t"));
    assert!(state.0.image().configs.is_empty(), "a topic's settings go with it");
}

#[test]
fn the_last_setting_removed_removes_the_resource() {
    let mut state = State::default();
    replay(&mut state, &[topic("t", 7), config(Some("v"))]).unwrap();
    assert_eq!(state.0.image().config(&Resource::Topic("t".into()), "p"), Some("v"));
    replay(&mut state, &[config(None)]).unwrap();
    assert!(state.0.image().configs.is_empty());
}

#[test]
fn a_log_that_does_not_fit_itself_is_refused() {
    let refused = |records: &[Record]| replay(&mut State::default(), records).unwrap_err();
    assert_eq!(refused(&[partition(0)]), ReplayError::NoTopic { at: Offset(0), topic: TOPIC });
    let again = ReplayError::TopicExists { at: Offset(1), name: "t".into() };
    assert_eq!(refused(&[topic("t", 7), topic("t", 8)]), again);
    let missing = PartitionId { topic: TOPIC, index: 3 };
    let change = PartitionChangeRecord { partition: missing, ..Default::default() };
    let found = refused(&[topic("t", 7), Record::PartitionChange(change)]);
    assert_eq!(found, ReplayError::NoPartition { at: Offset(1), partition: missing });
    let (broker, broker_epoch) = (BrokerId(1), BrokerEpoch(0));
    let gone = Record::UnregisterBroker(UnregisterBrokerRecord { broker, broker_epoch });
    assert_eq!(refused(&[gone]), ReplayError::NoBroker { at: Offset(0), broker });
}

#[test]
fn rule_75_records_apply_in_order() {
    let mut state = Replay::default();
    state.apply(Offset(5), Record::NoOp, &mut Delta::default()).unwrap();
    let refused = state.apply(Offset(5), Record::NoOp, &mut Delta::default());
    assert_eq!(refused, Err(ReplayError::Backwards { end: Offset(6), found: Offset(5) }));
    state.seen(Offset(9));
    assert_eq!(state.image().end, Offset(9));
}
