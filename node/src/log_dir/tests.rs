//! What is formatted, taken over and refused.

use std::path::Path;

use highwater_broker::config::NodeConfig;
use highwater_broker::core::types::BrokerId;

use super::{format_new, open};

fn config(path: &Path, cluster_id: &str) -> NodeConfig {
    NodeConfig {
        node_id: BrokerId(1),
        cluster_id: cluster_id.to_owned(),
        log_dir: path.display().to_string(),
        ..NodeConfig::default()
    }
}

fn refusal(config: &NodeConfig, mutants: &[String]) -> String {
    open(config, mutants).unwrap_err().to_string()
}

#[test]
fn an_empty_directory_is_formatted_once_and_keeps_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    let first = open(&config(&path, "c"), &[]).unwrap().meta;
    let again = open(&config(&path, ""), &[]).unwrap().meta;
    assert_eq!((&first, first.cluster_id.as_str()), (&again, "c"));
    assert!(format_new(&config(&path, "c"), &[]).unwrap_err().to_string().contains("already"));
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let _first = open(&config(folder.path(), "c"), &[]).unwrap();
    assert!(refusal(&config(folder.path(), "c"), &[]).contains("another process uses"));
}

#[test]
fn other_owners_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    drop(open(&config(path, "c"), &[]).unwrap());
    let other = NodeConfig { node_id: BrokerId(2), ..config(path, "c") };
    assert!(refusal(&other, &[]).ends_with("belongs to node 1, and node.id is 2"));
    assert!(
        refusal(&config(path, "d"), &[]).ends_with("belongs to cluster c, and cluster.id is d")
    );
    for (text, wanted) in [
        ("version=1\nnode.id=1\ncluster.id=c\n", "was formatted by Apache Kafka"),
        ("version=1\nnode.id=1\ncluster.id=c\nhighwater.format=2\n", "has format 2 of a newer"),
        ("version=7\nnode.id=1\n", "meta.properties has version \"7\""),
    ] {
        std::fs::write(path.join("meta.properties"), text).unwrap();
        let refused = refusal(&config(path, "c"), &[]);
        assert!(refused.contains(wanted), "{refused}");
    }
}

#[test]
fn what_is_no_log_directory_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    assert!(refusal(&config(folder.path(), "c"), &[]).contains("holds thesis.tex"));
    let empty = tempfile::tempdir().unwrap();
    assert!(refusal(&config(empty.path(), ""), &[]).contains("is not formatted"));
}

#[test]
fn a_mutated_node_wants_a_directory_of_its_own() {
    let mutants = ["HW-26".to_owned()];
    let folder = tempfile::tempdir().unwrap();
    drop(open(&config(folder.path(), "c"), &[]).unwrap());
    assert!(refusal(&config(folder.path(), "c"), &mutants).contains("was not made with --mutant"));
    let folder = tempfile::tempdir().unwrap();
    drop(open(&config(folder.path(), "c"), &mutants).unwrap());
    assert!(open(&config(folder.path(), "c"), &mutants).is_ok());
}
