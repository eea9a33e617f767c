//! Real processes: started with their output kept, found by marker, signalled, waited for.

use std::{fs, path::Path, time::Duration};

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;
use crate::target::Command;

const SOON: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    Command { program: "/bin/sh".into(), arguments, environment: vec![] }
}

fn start(command: &Command, folder: &Path, ready_line: Option<&'static str>) -> Spawned {
    let (incarnation, run_folder) = (4, folder);
    spawn(&Spawn { command, folder, incarnation, run_folder, ready_line }).unwrap()
}

#[tokio::test]
async fn output_and_exit_status_are_kept() {
    let folder = TempDir::new().unwrap();
    let command = shell("echo out; echo err >&2; exit 3");
    let mut spawned = start(&command, folder.path(), None);
    assert_eq!(timeout(SOON, spawned.exit.wait()).await.unwrap(), Exit::Code(3));
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("stdout.4.log"), "out\n");
    assert_eq!(read("stderr.4.log"), "err\n");
}

#[tokio::test]
async fn the_ready_line_is_seen_and_kept_in_the_output() {
    let folder = TempDir::new().unwrap();
    let command = shell("echo starting; echo ready node=1; exec sleep 60");
    let mut spawned = start(&command, folder.path(), Some("ready "));
    let ready = timeout(SOON, spawned.ready.wait_for(Option::is_some)).await.unwrap().unwrap();
    assert_eq!(ready.as_deref(), Some("ready node=1"));
    drop(ready);
    let text = fs::read_to_string(folder.path().join("stdout.4.log")).unwrap();
    assert_eq!(text, "starting\nready node=1\n");
    assert!(spawned.id.signal_group(Signal::KILL).unwrap());
    let exit = timeout(SOON, spawned.exit.wait()).await.unwrap();
    assert!(exit.killed());
    assert!(!spawned.id.alive());
}

#[tokio::test]
async fn a_signal_reaches_the_whole_group() {
    let folder = TempDir::new().unwrap();
    let command = shell("sleep 60 & echo ready; wait");
    let mut spawned = start(&command, folder.path(), Some("ready"));
    timeout(SOON, spawned.ready.wait_for(Option::is_some)).await.unwrap().unwrap();
    assert_eq!(marked_processes(folder.path()).len(), 2);
    spawned.id.signal_group(Signal::KILL).unwrap();
    timeout(SOON, spawned.exit.wait()).await.unwrap();
    let gone = async {
        while !marked_processes(folder.path()).is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, gone).await.expect("the child ends with its parent");
}

#[tokio::test]
async fn marked_processes_are_those_of_the_run_and_no_others() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let spawned = start(&shell("exec sleep 60"), folder.path(), None);
    let found = async {
        loop {
            let marked = marked_processes(folder.path());
            if marked.first().is_some_and(|marked| marked.command == "sleep 60") {
                return marked;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let found = timeout(SOON, found).await.unwrap();
    assert_eq!(found[0].id, spawned.id);
    assert!(marked_processes(other.path()).is_empty());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let command = Command { program: "/no/such/broker".into(), ..shell("") };
    let (folder, ready_line) = (folder.path(), None);
    let what = Spawn { command: &command, folder, incarnation: 0, run_folder: folder, ready_line };
    let error = spawn(&what).unwrap_err().to_string();
    assert!(error.starts_with("cannot start /no/such/broker: "), "{error}");
}

#[tokio::test]
async fn who_asked_is_told_which_pid_ended() {
    let pids = KnownPids::default();
    let mut ended = pids.ended();
    pids.add(77, crate::cluster::NodeId(1));
    assert_eq!(pids.of(crate::cluster::NodeId(1)), Some(77));
    pids.remove(77);
    assert_eq!(ended.recv().await, Some(77));
    assert_eq!(pids.all(), []);
}
