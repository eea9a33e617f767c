//! The condition language: what it reads, refuses and decides.

use std::collections::BTreeMap;

use super::{Condition, Known, Scene};
use crate::{
    cluster::NodeId,
    nemesis::{ClusterView, PartitionView},
};

fn view() -> ClusterView {
    let partition = PartitionView {
        leader: Some(NodeId(2)),
        leader_epoch: 5,
        replicas: [1, 2, 3].map(NodeId).to_vec(),
        isr: [2, 3].map(NodeId).to_vec(),
        leo: BTreeMap::from([(NodeId(2), 120), (NodeId(3), 100)]),
        high_watermark: Some(100),
        ..PartitionView::default()
    };
    let partitions = BTreeMap::from([("run-all-0".parse().unwrap(), partition)]);
    ClusterView { partitions, ..ClusterView::default() }
}

fn topic_of(label: &str) -> Option<String> {
    (label == "all").then(|| "run-all".to_owned())
}

fn holds(text: &str) -> bool {
    decide(text) == Some(true)
}

fn decide(text: &str) -> Option<bool> {
    let condition = Condition::try_from(text.to_owned()).unwrap();
    let names = BTreeMap::from([("old".to_owned(), Known::Number(1))]);
    let view = view();
    let scene = Scene {
        view: &view,
        topic_of: &topic_of,
        names: &names,
        waited_ms: 2_000,
        sends: 50,
        healed: false,
    };
    condition.decide(&scene, &[Known::Number(4)])
}

#[test]
fn what_holds() {
    for text in [
        "after 2s",
        "after 50 sends",
        "leader(all-0) == 2",
        "leader(all-0) != $old",
        "isr(all-0) == [3, leader(all-0)]",
        "isr_size(all-0) < 3",
        "leader_epoch(all-0) > before",
        "leader_epoch(all-0) == before + 1",
        "behind(all-0, 3) == 20 and hw(all-0) == leo(all-0, 3)",
        "leo(all-0) - 20 == hw(all-0)",
        "$old not in isr(all-0)",
        "follower(all-0) in isr(all-0)",
        "leo(all-0, 1) == none",
        "leader(all-0) != none",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn what_does_not_hold() {
    for text in [
        "after 2001ms",
        "after 51 sends",
        "healed",
        "isr(all-0) == [2]",
        "leo(all-0, 1) < 5",
        "leo(all-0, 1) != 5",
        "leader(other-0) == 2",
        "$unbound == 1",
        "after 2s and healed",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn what_hangs_on_something_unobserved_is_not_decided() {
    for (text, wanted) in [
        ("leo(all-0, 1) == 5", None),
        ("after 2s and leo(all-0, 1) == 5", None),
        ("leo(all-0, 1) == 5 and leader(all-0) == 3", Some(false)),
        ("leo(all-0, 1) == none", Some(true)),
        ("leader(all-0) == 3", Some(false)),
    ] {
        assert_eq!(decide(text), wanted, "{text}");
    }
}

#[test]
fn what_is_refused_is_named() {
    for (text, wanted) in [
        ("", "expected a number"),
        ("after 2", "expected `sends`"),
        ("after soon", "no length of time"),
        ("leader(all) == 2", "no key"),
        ("leader(all-0)", "expected one of =="),
        ("leader(all-0) == 2 or 3", "expected `and` or the end, found `or`"),
        ("behind(all-0) > 3", "needs a node"),
        ("läder(all-0) == 2", "unexpected"),
        ("isr(all-0) == [1", "expected `]`"),
    ] {
        let error = Condition::try_from(text.to_owned()).unwrap_err();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}
