//! What a killed run leaves is restored, once, and strangers are left alone.

use std::{collections::BTreeMap, os::unix::process::CommandExt, process::Command};

use tempfile::TempDir;

use super::*;
use crate::{clock::RunClock, journal::Journal, process::RUN_VARIABLE};

/// A process in a group of its own, as nodes are; reaped when dropped.
struct Sleeper(std::process::Child);

impl Sleeper {
    fn start(marker: Option<&Path>) -> Self {
        let mut command = Command::new("sleep");
        command.arg("60").process_group(0).env_remove(RUN_VARIABLE);
        marker.map(|folder| command.env(RUN_VARIABLE, folder));
        Self(command.spawn().unwrap())
    }

    fn process(&self) -> OsProcess {
        OsProcess::of(self.0.id() as i32).unwrap()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A run that was killed with these acts not undone.
fn killed_run(acts: Vec<Act>) -> TempDir {
    let folder = TempDir::new().unwrap();
    let journal = Journal::create(folder.path(), RunClock::start()).unwrap();
    for act in acts {
        journal.begin(act).unwrap();
    }
    folder
}

fn stop(process: OsProcess) {
    process.signal_group(Signal::STOP).unwrap();
    while !process.stopped() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn processes_of_the_run_are_resumed_and_killed_and_then_nothing_is_left() {
    let (paused, running) = (Sleeper::start(None), Sleeper::start(None));
    stop(paused.process());
    let folder = killed_run(vec![
        Act::Process(paused.process().for_journal("node 1")),
        Act::Process(running.process().for_journal("node 2")),
        Act::Pause(paused.process().for_journal("node 1")),
        Act::Link { rule: serde_json::json!({"action": "cut"}) },
    ]);
    let report = heal(folder.path()).unwrap();
    assert_eq!(report.resumed.len(), 1);
    let names: Vec<&str> = report.killed.iter().map(|killed| killed.name.as_str()).collect();
    assert_eq!(names, ["node 1", "node 2"]);
    assert!(!paused.process().alive() && !running.process().alive());
    assert!(heal(folder.path()).unwrap().is_empty());
}

#[test]
fn a_reused_pid_is_left_alone() {
    let stranger = Sleeper::start(None);
    let mut identity = stranger.process().for_journal("node 1");
    identity.start_ticks -= 1;
    let folder = killed_run(vec![Act::Process(identity.clone()), Act::Pause(identity)]);
    assert!(heal(folder.path()).unwrap().is_empty());
    assert!(stranger.process().alive());
}

#[test]
fn a_process_whose_start_was_never_journalled_is_found_by_its_marker() {
    let folder = killed_run(Vec::new());
    let marked = Sleeper::start(Some(&folder.path().canonicalize().unwrap()));
    let other = Sleeper::start(Some(Path::new("/another/run")));
    while marked_processes(folder.path()).is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    let report = heal(folder.path()).unwrap();
    assert_eq!(report.killed.len(), 1);
    assert_eq!(report.killed[0].process.pid, marked.0.id() as i32);
    assert!(other.process().alive());
}

#[test]
fn a_half_written_last_line_does_not_hinder() {
    let sleeper = Sleeper::start(None);
    let folder = killed_run(vec![Act::Process(sleeper.process().for_journal("node 1"))]);
    let path = journal::path(folder.path());
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"act\":1,\"wall_")).unwrap();
    assert_eq!(heal(folder.path()).unwrap().killed.len(), 1);
    assert!(heal(folder.path()).unwrap().is_empty());
}

#[test]
fn what_cannot_be_undone_is_said() {
    let undo = ["nft", "delete", "table"].map(str::to_owned).to_vec();
    let folder = killed_run(vec![Act::Rule { undo }]);
    for _ in 0..2 {
        assert_eq!(heal(folder.path()).unwrap().left, ["run by hand: nft delete table"]);
    }
}

#[test]
fn a_process_that_resists_does_not_keep_the_others_from_being_healed() {
    let acts: BTreeMap<u64, Act> =
        (1..=3).map(|number| (number, Act::Path { path: format!("/{number}") })).collect();
    let mut report = HealReport::default();
    let undone = undo_each(acts.iter(), &mut report, |act, _| match act {
        Act::Path { path } if path == "/1" => {
            Err(HealError::Stays { name: "node 1".to_owned(), pid: 7 })
        }
        Act::Path { path } => Ok(path == "/3"),
        _ => unreachable!("only paths were given"),
    });
    assert_eq!(undone, [3], "the journal closes only what was undone");
    assert_eq!(report.failed, ["node 1 (pid 7) is still there 10 s after SIGKILL"]);
}

#[test]
fn a_running_run_is_not_touched() {
    let folder = TempDir::new().unwrap();
    let _journal = Journal::create(folder.path(), RunClock::start()).unwrap();
    let error = heal(folder.path()).unwrap_err().to_string();
    assert!(error.contains("still running"), "{error}");
}

#[test]
fn a_folder_without_a_journal_is_named() {
    let folder = TempDir::new().unwrap();
    let error = heal(folder.path()).unwrap_err().to_string();
    assert!(error.contains("journal.jsonl") && error.contains("run folder?"), "{error}");
}

#[test]
fn a_journal_that_cannot_be_written_hinders_only_where_something_was_healed() {
    let gone = {
        let sleeper = Sleeper::start(None);
        sleeper.process().for_journal("node 1")
    };
    for acts in [Vec::new(), vec![Act::Process(gone)]] {
        let folder = killed_run(acts);
        let _sealed = seal(folder.path());
        assert!(heal(folder.path()).unwrap().is_empty());
    }
    let sleeper = Sleeper::start(None);
    let folder = killed_run(vec![Act::Process(sleeper.process().for_journal("node 1"))]);
    let _sealed = seal(folder.path());
    let report = heal(folder.path()).unwrap();
    assert_eq!((report.killed.len(), report.failed.len()), (1, 1), "{:?}", report.failed);
}

/// Puts a journal that nobody can write, not even root, in the place of a run's.
fn seal(folder: &Path) -> File {
    use std::{io::Write, os::fd::AsRawFd};

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let path = journal::path(folder);
    let text = fs::read(&path).unwrap();
    let mut file = File::from(memfd_create("journal", MemfdFlags::ALLOW_SEALING).unwrap());
    file.write_all(&text).unwrap();
    fcntl_add_seals(&file, SealFlags::WRITE).unwrap();
    fs::remove_file(&path).unwrap();
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    std::os::unix::fs::symlink(own, &path).unwrap();
    file
}

/// Waits until nobody has a file locked: a child that another test starts at the same time has all
/// of our files until it becomes a program of its own.
fn await_lock(file: &Path) {
    let file = File::open(file).unwrap();
    file.lock().unwrap();
    file.unlock().unwrap();
}

#[test]
fn a_node_that_was_only_tried_goes_with_its_folder() {
    let place = TempDir::new().unwrap();
    let trial = |id: &str| {
        let folder = place.path().join(format!("highwater-tried-{id}"));
        fs::create_dir(&folder).unwrap();
        let journal = Journal::create(&folder, RunClock::start()).unwrap();
        (folder, journal)
    };
    let ((left, journal), (running, _journal)) = (trial("a"), trial("b"));
    let node = Sleeper::start(None);
    journal.begin(Act::Process(node.process().for_journal("node 1"))).unwrap();
    drop(journal);
    await_lock(&journal::path(&left));
    let mut report = HealReport::default();
    clear_trials(place.path(), &mut report);
    assert_eq!(report.killed.len(), 1);
    assert!(!node.process().alive());
    assert!(!left.exists(), "its harness is gone");
    assert!(running.exists(), "its harness still uses it");
}
