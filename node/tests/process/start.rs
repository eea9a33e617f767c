//! Starting and not starting, and the words and statuses that go with it.

use std::net::TcpListener;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::nodes::{BINARY, Setup, free_port, wait_for};

fn run(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).output().unwrap()
}

/// Exit status and the one line that explains it.
fn refusal(output: &Output) -> (i32, String) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors.lines().filter(|line| !line.starts_with('{')).collect();
    assert_eq!(lines.len(), 1, "one sentence: {errors}");
    (output.status.code().unwrap(), lines[0].to_owned())
}

#[test]
fn it_says_once_that_it_serves_and_stops_cleanly() {
    let setup = Setup::new();
    for _ in 0..2 {
        let node = setup.start();
        let wanted = format!("ready node=1 listener=127.0.0.1:{}\n", setup.port);
        assert_eq!(node.ready_line, wanted);
        assert_eq!(node.stop(), Some(0));
        assert!(setup.log_dir().join(".kafka_cleanshutdown").exists());
    }
}

#[test]
fn an_idle_node_is_small_and_an_existing_one_starts_fast() {
    let setup = Setup::new();
    assert_eq!(setup.start().stop(), Some(0));
    let started = Instant::now();
    let node = setup.start();
    // The promise is 150 ms from an optimised build on a quiet machine; this one may be neither.
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert!(node.resident_bytes() < 40 << 20, "{} bytes", node.resident_bytes());
}

#[test]
fn a_taken_port_is_named() {
    let setup = Setup::new();
    let taken = TcpListener::bind(("127.0.0.1", setup.port)).unwrap();
    let address = taken.local_addr().unwrap();
    let (status, line) = refusal(&setup.fail());
    assert_eq!(status, 70);
    let wanted = format!("cannot listen on {address} (listener PLAINTEXT): the port is taken");
    assert!(line.ends_with(&wanted), "{line}");
}

#[test]
fn a_directory_in_use_is_refused() {
    let setup = Setup::new();
    let _node = setup.start();
    let (status, line) = refusal(&setup.fail());
    assert_eq!(status, 70);
    assert!(line.contains("another process uses the log directory"), "{line}");
}

#[test]
fn wrong_properties_and_options_end_with_64() {
    let mut setup = Setup::new();
    setup.more = "num.partitons=3".to_owned();
    let (status, line) = refusal(&setup.fail());
    assert_eq!(status, 64);
    assert!(line.ends_with("no property num.partitons; did you mean num.partitions?"), "{line}");
    for arguments in [
        &[][..],
        &["--no-such-option"],
        &["/no/such/file"],
        &["/dev/null", "--override", "x"],
        &["/dev/null"],
    ] {
        let (status, line) = refusal(&run(arguments));
        assert_eq!(status, 64, "{line}");
    }
}

#[test]
fn mutants_are_listed_and_unknown_ones_refused() {
    let listed = run(&["--list-mutants"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.status.success() && text.contains("HW-26\t"), "{text}");
    let setup = Setup::new();
    let output = setup.command().args(["--mutant", "HW-0"]).output().unwrap();
    let (status, line) = refusal(&output);
    assert_eq!((status, line.ends_with("there is no mutant HW-0; see --list-mutants")), (64, true));
}

#[test]
fn the_version_names_a_commit() {
    let version = String::from_utf8(run(&["--version"]).stdout).unwrap();
    assert!(version.starts_with("highwater-node 0.") && version.contains(" ("), "{version}");
}

#[test]
fn a_directory_can_be_formatted_ahead() {
    let setup = Setup::new();
    let file = setup.command().get_args().next().unwrap().to_owned();
    let file = file.to_str().unwrap();
    assert!(run(&["format", file]).status.success());
    let (status, line) = refusal(&run(&["format", file]));
    assert_eq!((status, line.ends_with("is formatted already")), (70, true));
    assert_eq!(setup.start().stop(), Some(0));
}

/// So whoever asks before a start learns of it, too.
#[test]
fn formatting_names_what_has_no_effect() {
    let mut setup = Setup::new();
    setup.more = "nonexistent.key=1".to_owned();
    let file = setup.command().get_args().next().unwrap().to_owned();
    let output = run(&["format", file.to_str().unwrap()]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    assert!(log.contains("\"these properties have no effect here: nonexistent.key\""), "{log}");
}

#[test]
fn one_json_line_an_event() {
    let mut setup = Setup::new();
    setup.more = "num.io.threads=3".to_owned();
    let node = setup.start();
    let lines = wait_for("events are logged", || {
        Some(setup.log()).filter(|log| log.contains("\"event\":\"unfenced\""))
    });
    drop(node);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["node"], 1);
        assert!(line["time"].as_u64() > Some(1_000_000_000_000) && line["event"].is_string());
    }
    assert!(lines.contains("these properties have no effect here: num.io.threads"));
    assert_ne!(free_port(), setup.port);
}
