//! Faults of the disk, on stand-ins that write: into one file with a sync after each byte, into
//! another one without.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use highwater_harness::{
    cluster::{NodeId, NodeState},
    disk::find_library,
    fault::{self, Active},
    nemesis::{Ending, NotInstalled, Rng},
};
use rand::SeedableRng;
use serde_json::{Value, json};
use tokio::time;

use crate::{
    bench::{Bench, LATE},
    stand_in::{LOOSE, SYNCED},
};

/// The shim, built if it is not yet.
fn library() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "highwater-shim"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success());
    find_library().unwrap()
}

async fn strike(bench: &Bench, name: &str, with: Value) -> Result<Box<dyn Active>, NotInstalled> {
    let fault = fault::parse(name, &with).unwrap();
    fault.install(&bench.controls, Rng::seed_from_u64(7)).await
}

async fn proof(active: Box<dyn Active>) -> Value {
    match active.heal().await.unwrap() {
        Ending::Installed { proof } => proof,
        other => panic!("not installed: {other:?}"),
    }
}

fn length(bench: &Bench, node: i32, name: &str) -> u64 {
    let folder = &bench.controls.cluster.plan().nodes[&NodeId(node)].log_dir;
    fs::metadata(folder.join(name)).map_or(0, |file| file.len())
}

async fn until(mut seen: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !seen() {
        assert!(begun.elapsed() < LATE, "it never came to that");
        time::sleep(Duration::from_millis(5)).await;
    }
}

async fn until_written(bench: &Bench, node: i32) {
    let before = length(bench, node, SYNCED);
    until(|| length(bench, node, SYNCED) > before + 5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn power_loss_takes_what_was_not_synced_and_nothing_else() {
    let bench = Bench::start_writing(library()).await;
    until_written(&bench, 1).await;
    // What is not synced stays so over a kill.
    proof(strike(&bench, "kill", json!({"aim": {"nodes": [1]}})).await.unwrap()).await;
    until_written(&bench, 1).await;
    let before = length(&bench, 1, SYNCED);
    let with = json!({"aim": {"nodes": [1, 2]}, "survives": "nothing"});
    let active = strike(&bench, "power-loss", with).await.unwrap();
    let told = active.describe();
    assert_eq!(told["nodes"], json!([1, 2]));
    assert!(length(&bench, 1, SYNCED) + 1 >= before, "every byte but the last was synced");
    assert_eq!(length(&bench, 1, LOOSE), 0, "its name was never synced");
    let cut = &told["cut"]["1"];
    assert!(cut["t-0"]["bytes"].as_u64().unwrap() <= 1, "{told}");
    assert!(cut["t-1"]["bytes"].as_u64().unwrap() >= 90, "{told}");
    assert!(told["cut"]["2"]["t-0"]["bytes"].is_u64() && told["cut"]["3"].is_null(), "{told}");
    let proof = proof(active).await;
    assert_eq!(proof["exits"], json!({"1": "signal 9", "2": "signal 9"}));
    assert_eq!(proof["cut"], told["cut"]);
    until_written(&bench, 1).await;
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_power_loss_left_counts_as_synced() {
    let bench = Bench::start_writing(library()).await;
    until_written(&bench, 1).await;
    let with = json!({"aim": {"nodes": [1]}, "survives": "nothing"});
    drop(strike(&bench, "power-loss", with.clone()).await.unwrap());
    until_written(&bench, 1).await;
    let first = length(&bench, 1, SYNCED);
    let active = strike(&bench, "power-loss", with).await.unwrap();
    assert!(length(&bench, 1, SYNCED) + 1 >= first, "the last byte may not have been synced");
    proof(active).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wipe_leaves_a_disk_as_it_is_before_the_first_start() {
    let bench = Bench::start_writing(library()).await;
    until_written(&bench, 3).await;
    let active = strike(&bench, "wipe", json!({"aim": {"nodes": [3]}})).await.unwrap();
    let folder = &bench.controls.cluster.plan().nodes[&NodeId(3)].log_dir;
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    let proof = proof(active).await;
    assert!(proof["cut"]["3"]["t-0"]["bytes"].as_u64().unwrap() > 5, "{proof}");
    assert!(proof["lost"]["3"]["files"] == 2, "{proof}");
    until_written(&bench, 3).await;
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_disk_makes_calls_wait_until_it_heals() {
    let bench = Bench::start_writing(library()).await;
    until_written(&bench, 2).await;
    let with = json!({"aim": {"nodes": [2]}, "fsync_ms": 700});
    let active = strike(&bench, "slow-disk", with.clone()).await.unwrap();
    assert!(matches!(strike(&bench, "slow-disk", with).await, Err(NotInstalled::Skipped(_))));
    until(|| active.acted()).await;
    let (before, begun) = (length(&bench, 2, SYNCED), Instant::now());
    time::sleep(Duration::from_millis(1_000)).await;
    let most = begun.elapsed().as_millis() as u64 / 700 + 2;
    assert!(length(&bench, 2, SYNCED) <= before + most);
    let proof = proof(active).await;
    assert!(proof["2"]["slow-syncs"].as_u64().unwrap() >= 1, "{proof}");
    until_written(&bench, 2).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn disk_error_refuses_calls_and_healing_starts_who_ended_of_it() {
    let bench = Bench::start_writing(library()).await;
    for (error, on) in [("EIO", "write"), ("ENOSPC", "fsync")] {
        until_written(&bench, 1).await;
        let with = json!({"aim": {"nodes": [1]}, "error": error, "on": on});
        let active = strike(&bench, "disk-error", with).await.unwrap();
        until(|| bench.state(1) == NodeState::Down).await;
        assert!(active.acted());
        let proof = proof(active).await;
        assert_eq!(proof["ended"], json!([1]));
        until_written(&bench, 1).await;
    }
    assert_eq!(bench.controls.cluster.crashes().len(), 2);
    bench.until_whole().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_nobody_writes_to_proves_nothing() {
    let bench = Bench::start_writing(library()).await;
    let with = json!({"aim": "controller", "fsync_ms": 5});
    let paused = bench.controls.cluster.pause(NodeId(101)).await.unwrap();
    assert!(paused.took_hold().await);
    let active = strike(&bench, "slow-disk", with).await.unwrap();
    time::sleep(Duration::from_millis(200)).await;
    assert!(!active.acted());
    assert!(matches!(active.heal().await.unwrap(), Ending::Indeterminate { .. }));
    bench.controls.cluster.kill_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_shim_it_is_skipped() {
    let bench = Bench::start().await;
    for (name, with) in [("power-loss", json!({})), ("slow-disk", json!({"write_ms": 1}))] {
        let fault = fault::parse(name, &with).unwrap();
        assert!(fault.needs_disks());
        let scene = fault::Scene {
            plan: bench.controls.cluster.plan(),
            capabilities: bench.controls.cluster.target().capabilities(),
            disks: false,
        };
        let reason = fault.applies(&scene).unwrap_err();
        assert_eq!(reason, "the nodes run without libhighwater_shim.so");
        assert!(matches!(strike(&bench, name, with).await, Err(NotInstalled::Skipped(_))));
    }
    bench.end().await;
}
