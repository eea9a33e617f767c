//! Faults are made from their parameters, and wrong ones are refused by name.

use highwater_harness::fault::{TABLE, parse};
use serde_json::{Value, json};

fn refusal(name: &str, with: Value) -> String {
    parse(name, &with).unwrap_err().to_string()
}

#[test]
fn every_fault_of_the_table_is_named_and_described() {
    let names: Vec<&str> = TABLE.iter().map(|(name, _, _)| *name).collect();
    let wanted = [
        "bridge",
        "client-crash",
        "config-change",
        "cut",
        "disk-error",
        "hold",
        "isolate",
        "kill",
        "leader-move",
        "pause",
        "power-loss",
        "preferred-election",
        "reply-loss",
        "restart",
        "ring",
        "rolling-restart",
        "slow-disk",
        "slow-link",
        "split",
        "stop",
        "storm",
        "topic-create",
        "topic-delete",
        "wipe",
    ];
    assert_eq!(names, wanted);
    assert!(TABLE.iter().all(|(_, about, _)| about.ends_with('.')));
}

#[test]
fn the_faults_page_has_a_row_for_every_fault_and_no_other() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/faults.md");
    let page = std::fs::read_to_string(page).unwrap();
    let list = page.split("## The list").nth(1).unwrap().split("## ").next().unwrap();
    let rows = list.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let mut named: Vec<&str> = rows.skip(1).collect();
    named.sort_unstable();
    let known: Vec<&str> = TABLE.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(named, known);
}

#[test]
fn faults_that_need_no_parameter_take_none() {
    for name in [
        "kill",
        "stop",
        "pause",
        "restart",
        "isolate",
        "split",
        "bridge",
        "ring",
        "storm",
        "wipe",
        "client-crash",
    ] {
        assert!(parse(name, &Value::Null).is_ok(), "{name}");
        assert!(parse(name, &json!({})).is_ok(), "{name}");
    }
}

#[test]
fn an_unknown_fault_is_refused_with_the_names_there_are() {
    let refusal = refusal("meteor", Value::Null);
    assert!(
        refusal.starts_with(
            "unknown fault `meteor`; known: bridge, client-crash, config-change, cut, disk-error, "
        ),
        "{refusal}"
    );
}

#[test]
fn a_fault_on_links_that_cannot_be_makes_no_sense() {
    let node = |id: i32| json!({"nodes": [id]});
    let cases = [
        ("cut", json!({"from": node(1), "to": node(1)}), Some("has no link to itself")),
        ("cut", json!({"from": "leader", "to": "leader"}), Some("has no link to itself")),
        ("cut", json!({"from": "clients", "to": "clients"}), Some("clients have no links")),
        ("reply-loss", json!({"aim": node(2), "to": node(2)}), Some("has no link to itself")),
        (
            "config-change",
            json!({"key": "flush.messages", "value": "1"}),
            Some("the run is judged by `flush.messages`"),
        ),
        ("config-change", json!({"key": "min.insync.replicas", "value": "1"}), None),
        ("client-crash", json!({"count": 0}), Some("it hits nobody")),
        ("slow-link", json!({"from": node(1), "to": node(2)}), Some("neither delays nor limits")),
        (
            "storm",
            json!({"of": [{"fault": "cut", "with": {"from": node(1), "to": node(1)}}]}),
            Some("has no link to itself"),
        ),
        ("cut", json!({"from": node(1), "to": {"nodes": [1, 2]}}), None),
        ("cut", json!({"from": "follower", "to": "follower"}), None),
        ("cut", json!({"from": "leader", "to": "followers"}), None),
    ];
    for (name, with, wanted) in cases {
        let problem = parse(name, &with).unwrap().makes_sense().err();
        match wanted {
            Some(wanted) => assert!(problem.unwrap().contains(wanted), "{name} {with}"),
            None => assert_eq!(problem, None, "{name} {with}"),
        }
    }
}

#[test]
fn the_field_that_is_wrong_is_named() {
    let cases = [
        ("kill", json!({"who": "leader"}), "unknown field `who`"),
        ("wipe", json!({"what": "data"}), "unknown field `what`"),
        ("client-crash", json!({"kind": "admin"}), "field `kind`"),
        ("kill", json!({"aim": "king"}), "field `aim`: whom to hit"),
        ("cut", json!({"from": "clients"}), "missing field `to`"),
        (
            "hold",
            json!({"from": "clients", "to": "one", "api": "Fetsh", "part": "answer"}),
            "Fetsh",
        ),
        ("leader-move", json!({"of": "topic"}), "field `of`: `topic` names no partition"),
        ("slow-link", json!({"from": "one", "to": "one", "delay_ms": -1}), "field `delay_ms`"),
        ("storm", json!({"of": []}), "field `of`"),
        ("storm", json!({"of": [{"fault": "meteor"}]}), "unknown fault `meteor`"),
        ("storm", json!({"hold_ms": [9, 3]}), "field `hold_ms`: 9 is more than 3"),
    ];
    for (name, with, wanted) in cases {
        let refusal = refusal(name, with);
        assert!(refusal.contains(wanted), "{name}: {refusal}");
    }
}
