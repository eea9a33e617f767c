//! A harness that is killed amid pauses and cuts leaves nothing that heal does not undo.

use std::{
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use highwater_harness::{fault, heal::heal, nemesis::Rng, process::marked_processes};
use rand::SeedableRng;
use serde_json::json;
use tempfile::TempDir;

use crate::bench::Bench;

/// Names the run folder of the harness that will be killed.
const VARIABLE: &str = "HIGHWATER_DOOMED";

#[test]
fn heal_restores_what_a_killed_harness_left_and_has_nothing_to_do_again() {
    if let Some(folder) = env::var_os(VARIABLE) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(doomed(Path::new(&folder)));
    }
    let folder = TempDir::new().unwrap();
    let mut harness = start(folder.path());
    assert_eq!(marked_processes(&folder.path().canonicalize().unwrap()).len(), 4);
    assert!(heal(folder.path()).unwrap_err().to_string().contains("still running"));
    harness.kill().unwrap();
    harness.wait().unwrap();

    let report = heal(folder.path()).unwrap();
    let killed: Vec<&str> = report.killed.iter().map(|killed| killed.name.as_str()).collect();
    for survivor in ["node 101", "node 1", "node 3"] {
        assert!(killed.contains(&survivor), "{report:?}");
    }
    assert_eq!(marked_processes(&folder.path().canonicalize().unwrap()), []);
    assert!(heal(folder.path()).unwrap().is_empty());
}

/// Starts this test again as the harness that will be killed, and waits until its faults stand.
fn start(folder: &Path) -> Child {
    let test =
        "killed_harness::heal_restores_what_a_killed_harness_left_and_has_nothing_to_do_again";
    let mut child = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(VARIABLE, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "broken"));
    child
}

/// A run that pauses a node, cuts another off, says so, and waits for its end.
async fn doomed(folder: &Path) {
    let bench = Bench::start_in(folder).await;
    let mut active = Vec::new();
    for (name, aim) in [("pause", 2), ("isolate", 3)] {
        let fault = fault::parse(name, &json!({"aim": {"nodes": [aim]}})).unwrap();
        active.push(fault.install(&bench.controls, Rng::seed_from_u64(1)).await.unwrap());
    }
    println!("\nbroken");
    std::future::pending::<()>().await;
}
