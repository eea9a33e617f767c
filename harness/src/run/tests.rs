//! From options to a setup: defaults, presets, contradictions, refusals, determinism.

use clap::Parser;
use highwater_workloads::{Acks, settings::AcksMode};

use super::{
    RunArgs,
    setup::{Setup, resolve},
};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: RunArgs,
}

fn setup(line: &str) -> Result<Setup, String> {
    let words = std::iter::once("run").chain(line.split_whitespace());
    let args = Line::try_parse_from(words).map_err(|error| error.to_string())?.args;
    resolve(&args, args.seed.unwrap_or(1)).map_err(|error| error.to_string())
}

fn refusal(line: &str) -> String {
    match setup(line) {
        Ok(_) => panic!("`{line}` was taken"),
        Err(why) => why,
    }
}

#[test]
fn nothing_said_is_a_meaningful_experiment() {
    let setup = setup("").unwrap();
    assert_eq!((setup.nodes, setup.time_ms, setup.timing), (3, 60_000, "fast"));
    assert_eq!(setup.settings.acks, AcksMode::Mix);
    let labels: Vec<&str> = setup.topics.iter().map(|t| &*t.plan.label).collect();
    assert_eq!(labels, ["all", "one", "zero"]);
    for topic in &setup.topics {
        assert_eq!(topic.configs["min.insync.replicas"], "2");
        for replicas in &topic.assignment {
            let mut sorted = replicas.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [1, 2, 3], "three different brokers");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_setup() {
    for line in ["--seed 5", "--seed 5 --schedule s1 --acks all", "--seed 5 --preset audit"] {
        assert_eq!(setup(line), setup(line), "{line}");
    }
    assert_ne!(setup("--seed 5").unwrap().schedule, setup("--seed 6").unwrap().schedule);
}

#[test]
fn what_the_user_sets_wins_over_profile_and_preset() {
    let line = "--set broker.session.timeout.ms=700 --set 2:log.retention.ms=5 --preset durable \
                --topic-config min.insync.replicas=3 --topic all:flush.messages=1";
    let setup = setup(line).unwrap();
    assert_eq!(setup.properties["broker.session.timeout.ms"], "700");
    assert_eq!(setup.properties["broker.heartbeat.interval.ms"], "300");
    assert_eq!(setup.node_properties[&2]["log.retention.ms"], "5");
    assert_eq!(setup.settings.acks, AcksMode::Only(Acks::All));
    assert_eq!(setup.topics[0].configs["min.insync.replicas"], "3");
    assert_eq!(setup.topics[0].configs["flush.messages"], "1");
}

#[test]
fn a_schedule_brings_its_settings() {
    let setup = setup("--schedule frozen-map").unwrap();
    assert_eq!(setup.settings.acks, AcksMode::Only(Acks::One));
    assert_eq!(setup.topics[0].assignment, [[1, 2, 3]]);
    assert_eq!(setup.time_ms, 12_000);
}

#[test]
fn what_cannot_be_is_refused_in_one_sentence() {
    for (line, wanted) in [
        ("--schedule chaos", "unknown schedule `chaos`; known:"),
        ("--schedule none.json", "none.json: No such file"),
        ("--workload bank", "unknown workload `bank`; known: log"),
        ("--nodes 0", "--nodes 0: 1 to 20"),
        ("--replication-factor 4", "--replication-factor 4: there are 3 brokers"),
        ("--controllers many", "--controllers many: write 1 to 9, or combined"),
        ("--set nothing", "--set nothing: write KEY=VALUE"),
        ("--set x:a=b", "`x` is no node id"),
        ("--topic-config =1", "--topic-config =1: write KEY=VALUE"),
        ("--topic none:a=b", "no topic `none` in this run; known: all, one, zero"),
        ("--producers 2", "--producers: needs at least 3"),
        ("--value-size 99999999", "--value-size: at most"),
        (
            "--schedule frozen-map --acks all",
            "--acks contradicts schedule frozen-map, which needs 1",
        ),
        (
            "--schedule s18 --set replica.lag.time.max.ms=1",
            "--set replica.lag.time.max.ms=1 contradicts schedule s18",
        ),
        ("--set 2:replica.lag.time.max.ms=1", "all nodes must have the same; write --set replica"),
        ("--schedule two-down --topic-config min.insync.replicas=1", "contradicts schedule"),
        ("--schedule two-down --topic all:min.insync.replicas=1", "contradicts schedule two-down"),
        ("--schedule two-down --preset default", "--preset default contradicts schedule two-down"),
        ("--schedule commit --preset metrics", "--preset metrics contradicts schedule commit"),
        (
            "--schedule s19 --replication-factor 2",
            "--replication-factor 2 contradicts schedule s19, which assigns replicas [1, 2, 3]",
        ),
        ("--schedule s19 --nodes 2", "--nodes 2: schedule s19 assigns replicas to node 3"),
        ("--set log.dirs=/", "log.dirs is decided by the harness"),
        ("--set 2:node.id=7", "node.id is decided by the harness"),
        ("--target nodes:x", "unknown target `nodes:x`; known: kafka, node"),
        ("--target node:x", "target node:x: the node is the binary that is there; write node"),
        ("--target kafka --mutant HW-09", "mutant HW-09: only target node has known bugs"),
        ("--feature f=1", "feature f=1: target node has no feature levels"),
        ("--controllers combined", "controllers: target node has no elections"),
        ("--sample-hz 1001", "--sample-hz 1001: at most 1000"),
        ("--time 1441m", "--time 86460s: at most 24 hours"),
        ("--producers 10001", "--producers: at most 10000"),
        ("--consumers 4000000000", "--consumers: at most 10000"),
        ("--topics 70000 --partitions 70000", "--partitions: 1 to 1000"),
        ("--time soon", "no length of time"),
        ("--seeds 5..1", "no range of seeds"),
        ("--seed -1", "invalid value '-1' for '--seed <N>': write a whole number from 0 to"),
        ("--nodes -2", "invalid value '-2' for '--nodes <N>': write a whole number from 0 to"),
        ("--rate 1.5", "write a whole number from 0 to 4294967295"),
        ("--time -5s", "`-5s` is no length of time"),
        ("--seeds -1..5", "`-1..5` is no range of seeds"),
        ("--controllers -1", "--controllers -1: write 1 to 9, or combined"),
        ("--colour red", "unexpected argument '--colour'"),
    ] {
        let why = refusal(line);
        assert!(why.contains(wanted), "{line}: {why}");
    }
}

#[test]
fn a_schedule_that_speaks_of_what_the_run_does_not_have_is_refused_with_line_and_field() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("s.json");
    let file = path.display().to_string();
    let said = |settings: &str, step: &str| {
        let text = format!(
            "{{\"format\": 1, \"name\": \"x\",\n\"settings\": {{{settings}}},\n\
             \"steps\": [\n{step}]}}"
        );
        std::fs::write(&path, text).unwrap();
        setup(&format!("--schedule {file} --acks all --topics 1 --partitions 2")).err()
    };
    for (settings, step, wanted) in [
        (
            "",
            r#"{"do": "kill", "with": {"aim": {"nodes": [77]}}}"#,
            "line 4: field `steps[0].with.aim.nodes`: no node 77 in this run; known: 1, 2, 3, 101",
        ),
        (
            "",
            r#"{"do": "kill", "with": {"aim": {"role": "leader", "of": "all-2"}}}"#,
            "line 4: field `steps[0].with.aim.of`: no key `all-2` in this run; known: all-0, all-1",
        ),
        (
            "",
            r#"{"do": "leader-move", "with": {"to": 101}}"#,
            "line 4: field `steps[0].with.to`: no broker 101 in this run; known: 1, 2, 3",
        ),
        ("", r#"{"when": "leader(one-0) == 1"}"#, "line 4: field `steps[0].when`: no key `one-0`"),
        ("", r#"{"check": "isr(all-0) == [9]", "claim": "c"}"#, "`steps[0].check`: no broker 9"),
        ("", r#"{"let": {"f": "leo(all-0, 9)"}}"#, "`steps[0].let.f`: no broker 9"),
        ("", r#"{"do": "kill", "until": "leader(all-0) != 4"}"#, "`steps[0].until`: no broker 4"),
        (r#""options": {"acs": "1"}"#, "", "line 2: field `settings.options.acs`: no option"),
        (r#""options": {"acks": "2"}"#, "", "field `settings.options.acks`: `2` is none of 0, 1"),
        (r#""options": {"nodes": "x"}"#, "", "`settings.options.nodes`: `x` is no whole number"),
        (r#""assignment": [1, 9, 2]"#, "", "line 2: field `settings.assignment`: no broker 9"),
        (
            r#""broker": {"node.id": "7"}"#,
            "",
            "line 2: field `settings.broker.node.id`: the harness",
        ),
        (r#""assignment": [1, 1]"#, "", "`settings.assignment`: a node holds one replica"),
        (r#""assignment": []"#, "", "`settings.assignment`: a partition has at least one"),
    ] {
        let why = said(settings, step).unwrap_or_else(|| panic!("{settings} {step} was taken"));
        assert!(why.starts_with(&format!("{file}: line ")), "{why}");
        assert!(why.contains(wanted), "{settings} {step}: {why}");
    }
    let fine = r#"{"when": "hw(all-1) > 3 and leader(all-0) == 3", "do": "kill",
                   "with": {"aim": {"nodes": [101]}}}"#;
    assert_eq!(said("", fine), None);
}

#[test]
fn a_path_that_no_configuration_can_hold_is_refused() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let args = RunArgs { out: OsStr::from_bytes(b"o\xff").into(), ..RunArgs::default() };
    let why = resolve(&args, 1).unwrap_err().to_string();
    assert_eq!(why, "--out o\u{fffd}: no UTF-8 text, as the nodes' configuration is");
}
