//! Targets are found by name, and what our node is told is what the plan says.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{cluster::ControllerPlacement, cluster::server_properties, ports::PortPool};

fn plan(folder: &TempDir, placement: ControllerPlacement) -> ClusterPlan {
    let mut ports = PortPool::new();
    ClusterPlan::new(folder.path(), "aGlnaHdhdGVyLXRlc3RpbmcA", 3, placement, &mut ports).unwrap()
}

fn value<'a>(properties: &'a str, key: &str) -> &'a str {
    let line = properties.lines().find(|line| line.split_once('=').is_some_and(|l| l.0 == key));
    line.and_then(|line| line.split_once('=')).map_or("", |(_, value)| value)
}

#[test]
fn an_unknown_target_is_refused_with_the_names_there_are() {
    let error = open("redis", &TargetOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "unknown target `redis`; known: kafka, node, noida-db");
}

#[test]
fn a_broker_is_advertised_by_its_proxies_and_listens_on_its_own_ports() {
    let folder = TempDir::new().unwrap();
    let plan = plan(&folder, ControllerPlacement::Separate(1));
    let node = plan.brokers().next().unwrap();
    let text = server_properties(&plan, node);
    for (listener, place) in &node.listeners {
        let name = listener.name();
        assert!(value(&text, "listeners").contains(&format!("{name}://{}", place.real)));
        assert!(
            value(&text, "advertised.listeners").contains(&format!("{name}://{}", place.proxy))
        );
    }
    assert_eq!(value(&text, "process.roles"), "broker");
    assert_eq!(value(&text, "node.id"), "1");
    let controller = plan.controllers().next().unwrap();
    let proxy = controller.place(crate::cluster::Listener::Controller).unwrap().proxy;
    assert_eq!(value(&text, "controller.quorum.voters"), format!("{}@{proxy}", controller.id));
}

#[test]
fn a_combined_node_has_all_three_listeners() {
    let folder = TempDir::new().unwrap();
    let plan = plan(&folder, ControllerPlacement::Combined);
    assert_eq!(plan.controllers().count(), 3);
    let text = server_properties(&plan, plan.brokers().next().unwrap());
    assert_eq!(value(&text, "process.roles"), "broker,controller");
    assert_eq!(value(&text, "listeners").split(',').count(), 3);
}

#[test]
fn a_nodes_own_property_wins_over_the_clusters() {
    let folder = TempDir::new().unwrap();
    let mut plan = plan(&folder, ControllerPlacement::Separate(1));
    plan.properties.insert("min.insync.replicas".to_owned(), "2".to_owned());
    let node = plan.nodes.get_mut(&crate::cluster::NodeId(2)).unwrap();
    node.properties.insert("min.insync.replicas".to_owned(), "1".to_owned());
    let texts: Vec<String> = plan.brokers().map(|node| server_properties(&plan, node)).collect();
    let values: Vec<&str> = texts.iter().map(|text| value(text, "min.insync.replicas")).collect();
    assert_eq!(values, ["2", "1", "2"]);
}

#[test]
fn a_cluster_of_nothing_is_refused() {
    let folder = TempDir::new().unwrap();
    for (brokers, controllers) in [(0, 1), (3, 0)] {
        let placement = ControllerPlacement::Separate(controllers);
        let mut ports = PortPool::new();
        let plan = ClusterPlan::new(folder.path(), "c", brokers, placement, &mut ports);
        assert!(plan.unwrap_err().to_string().contains("at least one broker and one controller"));
    }
}

#[tokio::test]
async fn preparing_a_node_writes_its_configuration_and_log_directory() {
    let folder = TempDir::new().unwrap();
    let plan = plan(&folder, ControllerPlacement::Separate(1));
    let binary = folder.path().join("highwater-node");
    fs::write(&binary, "").unwrap();
    let target = node::NodeTarget::new(binary.clone(), vec!["HW-09".to_owned()]);
    for planned in plan.nodes.values() {
        target.prepare(&plan, planned).await.unwrap();
        assert!(planned.log_dir.is_dir());
        let command = target.command(&plan, planned);
        assert_eq!(command.program, binary);
        assert_eq!(command.arguments[1..], ["--mutant", "HW-09"]);
        let written = fs::read_to_string(&command.arguments[0]).unwrap();
        assert_eq!(written, server_properties(&plan, planned));
    }
}

#[test]
fn what_a_node_warns_of_is_read_from_its_log() {
    let node = node::NodeTarget::new("highwater-node".into(), Vec::new());
    let log = "{\"time\":1,\"node\":1,\"event\":\"warning\",\"text\":\"no effect: foo\"}\n\
               {\"time\":2,\"node\":1,\"event\":\"unfenced\"}\nno line of the log\n{\"time\":";
    assert_eq!(node.warnings(log), ["no effect: foo"]);
}

#[test]
fn properties_without_effect_are_read_from_a_nodes_log() {
    let line = |text: &str| {
        let event = json!({"time": 1, "node": 1, "event": "warning", "text": text});
        format!("{event}\n")
    };
    let log = line("these properties have no effect here: a.b, c") + &line("d");
    assert_eq!(node::without_effect(&log), ["a.b", "c"]);
}
