//! Links between sides, partitions by name, and what a sight of the cluster says.

use super::*;
use crate::{
    cluster::NodeId,
    proxy::{Endpoint, Link},
};

fn node(id: i32) -> Endpoint {
    Endpoint::Node(NodeId(id))
}

#[test]
fn links_run_across_in_the_directions_asked_for() {
    let there = Link { from: node(1), to: node(2) };
    assert_eq!(across(&[node(1)], &[node(2)], Ways::OneWay), [there]);
    assert_eq!(across(&[node(1)], &[node(2)], Ways::Both), [there, there.reversed()]);
    let to_itself = across(&[node(1), node(2)], &[node(2)], Ways::OneWay);
    assert_eq!(to_itself, [there]);
    assert_eq!(across(&[Endpoint::Clients], &[node(1), node(3)], Ways::OneWay).len(), 2);
}

#[test]
fn a_partition_is_read_as_it_is_written() {
    let partition: Partition = "my-topic-12".parse().unwrap();
    assert_eq!((partition.topic.as_str(), partition.index), ("my-topic", 12));
    assert_eq!(partition.to_string(), "my-topic-12");
    for wrong in ["", "-1", "topic", "topic-", "topic--1", "topic-x"] {
        let parsed: Result<Partition, String> = wrong.parse();
        let is_negative = parsed.as_ref().is_ok_and(|parsed| parsed.index < 0);
        assert!(parsed.is_err() || !is_negative, "{wrong}");
    }
    assert!("topic".parse::<Partition>().is_err() && "-1".parse::<Partition>().is_err());
}

#[test]
fn aims_are_read_in_every_form() {
    for text in [
        r#""leader""#,
        r#"{"role":"isr-member","of":"t-0"}"#,
        r#"{"nodes":[1,2]}"#,
        r#"{"not":"leader"}"#,
        r#"["leader","controller"]"#,
    ] {
        let aim: Aim = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&aim).unwrap(), text);
    }
    assert_eq!(serde_json::from_str::<Side>(r#""clients""#).unwrap(), Side::clients());
    assert!(serde_json::from_str::<Aim>(r#""clients""#).is_err());
}

#[test]
fn a_full_isr_needs_a_leader_and_every_replica() {
    let nodes = [1, 2].map(NodeId).to_vec();
    let full = PartitionView {
        leader: Some(NodeId(1)),
        replicas: nodes.clone(),
        isr: nodes.clone(),
        ..PartitionView::default()
    };
    let name: Partition = "t-0".parse().unwrap();
    let mut view = ClusterView { live_brokers: nodes, ..ClusterView::default() };
    assert!(!view.isr_is_full(), "nothing was seen");
    view.partitions.insert(name.clone(), full);
    assert!(view.isr_is_full() && !view.has_dropped(NodeId(2)));
    view.partitions.entry(name.clone()).and_modify(|p| p.isr = vec![NodeId(1)]);
    assert!(!view.isr_is_full() && view.has_dropped(NodeId(2)));
    view.partitions.entry(name).and_modify(|p| p.leader = None);
    assert!(!view.isr_is_full());
}
