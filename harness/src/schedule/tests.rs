//! Every schedule is well formed, decided by its seed alone, and refuses what is wrong by name.

use std::{collections::BTreeMap, path::Path};

use super::{Ask, TABLE, load};
use crate::steps::{Schedule, format};

fn schedule(name: &str, seed: u64) -> Schedule {
    load(name, &Ask { seed, time_ms: 15_000, replicas: 3, proxies: true })
        .unwrap_or_else(|error| panic!("{error}"))
        .schedule
}

#[test]
fn default_aims_at_nobody_who_is_not_there() {
    for seed in 1..50 {
        let ask = Ask { seed, time_ms: 60_000, replicas: 1, proxies: true };
        let made = serde_json::to_string(&load("default", &ask).unwrap().schedule).unwrap();
        assert!(!made.contains("follower") && !made.contains("minority"), "seed {seed}: {made}");
    }
}

#[test]
fn default_leaves_links_alone_where_there_are_no_proxies() {
    for seed in 1..50 {
        let ask = Ask { seed, time_ms: 60_000, replicas: 1, proxies: false };
        let made = load("default", &ask).unwrap().schedule;
        let drawn: Vec<_> = made.steps.iter().filter_map(|s| s.act.fault.as_deref()).collect();
        assert!(["kill", "pause", "stop"].iter().all(|fault| drawn.contains(fault)), "{drawn:?}");
        assert!(drawn.iter().all(|fault| ["kill", "pause", "stop", "restart"].contains(fault)));
    }
}

#[test]
fn every_schedule_is_well_formed_and_named_after_its_file() {
    for (name, _, _) in TABLE {
        for seed in 0..20 {
            let made = schedule(name, seed);
            let same = made.name == *name || (*name == "s3" && made.name.starts_with("s3"));
            assert!(same, "{name} calls itself {}", made.name);
            assert!(!made.steps.is_empty(), "{name}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_schedule() {
    for (name, _, _) in TABLE {
        assert_eq!(schedule(name, 7), schedule(name, 7), "{name}");
    }
    assert_ne!(schedule("default", 1), schedule("default", 2));
}

#[test]
fn default_always_kills_pauses_and_partitions() {
    for seed in 0..200 {
        let made = schedule("default", seed);
        let has = |names: &[&str]| {
            made.steps
                .iter()
                .any(|step| step.act.fault.as_ref().is_some_and(|fault| names.contains(&&**fault)))
        };
        assert!(has(&["kill"]) && has(&["pause"]), "seed {seed}");
        assert!(has(&["isolate", "split", "cut"]), "seed {seed}");
    }
}

#[test]
fn default_switches_every_other_fault_off_and_on_over_many_seeds() {
    let mut present: BTreeMap<String, u32> = BTreeMap::new();
    const SEEDS: u32 = 500;
    for seed in 0..u64::from(SEEDS) {
        let made = load("default", &Ask { seed, time_ms: 60_000, replicas: 3, proxies: true })
            .unwrap()
            .schedule;
        let faults: std::collections::BTreeSet<String> =
            made.steps.iter().filter_map(|step| step.act.fault.clone()).collect();
        for fault in faults {
            *present.entry(fault).or_default() += 1;
        }
    }
    for fault in ["stop", "restart", "leader-move", "slow-link", "reply-loss"] {
        let count = present.get(fault).copied().unwrap_or(0);
        let tenth = SEEDS / 10;
        assert!((tenth..=SEEDS - tenth).contains(&count), "{fault}: {count} of {SEEDS} seeds");
    }
}

#[test]
fn an_unknown_schedule_is_refused_with_the_known_ones() {
    let error = load("chaos", &Ask { seed: 1, time_ms: 1, replicas: 3, proxies: true })
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("unknown schedule `chaos`; known: all-isr-gone, "), "{error}");
}

#[test]
fn a_malformed_schedule_is_refused_with_line_and_field() {
    let text = |step: &str| {
        format!("{{\n  \"format\": 1,\n  \"name\": \"x\",\n  \"steps\": [\n    {step}\n  ]\n}}")
    };
    for (step, wanted) in [
        (r#"{"when": "after 2"}"#, "line 5: field `steps[0]."),
        (r#"{"do": "explode"}"#, "line 5: field `steps[0].do`: unknown fault `explode`"),
        (r#"{"do": "kill", "with": {"whom": 1}}"#, "line 5: field `steps[0].do`: fault `kill`"),
        (r#"{"do": "kill", "for": "1s", "until": "healed"}"#, "`steps[0].for`"),
        (r#"{"check": "healed"}"#, "field `steps[0].claim`: missing"),
        (r#"{"do": "kill", "colour": 1}"#, "line 5"),
        (r#"{"with": {"aim": "one"}}"#, "`steps[0].with`"),
        (r#"{"for": "1s"}"#, "`steps[0].for`"),
        (r#"{"until": "healed"}"#, "`steps[0].until`"),
        (r#"{"do": "kill", "claim": "it is dead"}"#, "`steps[0].claim`"),
        (r#"{"do": "kill", "with": {"aim": {"nodes": [1], "of": "a-0"}}}"#, "field `aim`"),
        (r#"{"do": "kill", "with": {"aim": {"role": "leader", "of": "a-0", "x": 1}}}"#, "`aim`"),
        (
            r#"{"do": "kill", "with": {"aim": {"nodes": ["$f"]}}}"#,
            "`steps[0].with.aim.nodes[0]`: `$f`",
        ),
        (r#"{"when": "leader(a-0) != $f"}"#, "`steps[0].when`: `$f` is not bound"),
        (r#"{"do": "kill", "until": "leader(a-0) != $f"}"#, "`steps[0].until`: `$f`"),
        (r#"{"when": "$f == 1", "let": {"f": "leader(a-0)"}}"#, "`steps[0].when`: `$f`"),
        (r#"{"let": {"f": "leo(a-0, $g)"}}"#, "`steps[0].let.f`: `$g` is not bound"),
        (
            r#"{"do": "cut", "with": {"from": {"nodes": [1]}, "to": {"nodes": [1]}}}"#,
            "`steps[0].with`: fault `cut`",
        ),
        (r#"{"do": "slow-link", "with": {"from": "one", "to": "all"}}"#, "neither delays"),
        (r#"{"when": "full and after 36s"}"#, "`steps[0].when`: it cannot come true: it needs 36s"),
        (r#"{"when": "after 36s", "do": "kill", "within": "35s"}"#, "write \"within\": \"36s\" or"),
        (r#"{"check": "after 2s", "within": "1s", "claim": "c"}"#, "`steps[0].check`: it cannot"),
        (r#"{}, {"when": "after 31s"}"#, "`steps[1].when`: it cannot"),
    ] {
        let error = format::parse(Path::new("my.json"), &text(step)).unwrap_err().to_string();
        assert!(error.starts_with("my.json: line 5:"), "{step}: {error}");
        assert!(error.contains(wanted), "{step}: {error}");
    }
    for (from, to, wanted) in [
        (r#""x""#, r#""../x""#, "line 3: field `name`"),
        (r#""x""#, r#""a/b""#, "line 3: field `name`"),
        ("{}", "", "line 3: field `repeat`"),
        (r#""x","#, r#""x", "expect": [{"count": "anomalies.loss"}],"#, "`anomalies.loss`"),
        (r#""x","#, r#""x", "expect": [{"count": "counts.sends"}],"#, "`counts.sends`"),
        (
            r#""x","#,
            r#""x", "expect": [{"count": "counts.ok", "at_least": 3, "at_most": 2}],"#,
            "line 3: field `expect[0].at_least`: at least 3 and at most 2 cannot both hold",
        ),
    ] {
        let empty = text("{}").replace(from, to).replace(r#""x","#, r#""x", "repeat": true,"#);
        let error = format::parse(Path::new("my.json"), &empty).unwrap_err().to_string();
        assert!(error.contains(wanted), "{to}: {error}");
    }
    let later = text("{}").replace("\"format\": 1", "\"format\": 9");
    let error = format::parse(Path::new("my.json"), &later).unwrap_err().to_string();
    assert!(error.contains("line 2: schedule format 9 is unknown"), "{error}");
}

#[test]
fn what_a_step_bound_is_known_from_its_let_on() {
    let steps = r#"[{"let": {"f": "follower(a-0)", "g": "leo(a-0, $f)"}, "do": "cut",
                     "with": {"from": {"nodes": ["$f"]}, "to": "clients"}, "until": "$f == none"},
                    {"when": "leo(a-0, $f) > $g"}]"#;
    let text = format!(r#"{{"format": 1, "name": "x", "steps": {steps}}}"#);
    format::parse(Path::new("my.json"), &text).unwrap();
}

#[test]
fn a_time_that_passes_while_the_step_before_is_carried_out_counts() {
    let parse = |steps: &str| {
        let text = format!(r#"{{"format": 1, "name": "x", "steps": [{steps}]}}"#);
        format::parse(Path::new("my.json"), &text).map(drop)
    };
    parse(r#"{"when": "after 36s", "within": "36s"}"#).unwrap();
    let check = r#"{"check": "full", "within": "10s", "claim": "c"}"#;
    parse(&format!(r#"{check}, {{"when": "after 40s"}}"#)).unwrap();
    let error = parse(&format!(r#"{check}, {{"when": "after 41s"}}"#)).unwrap_err().to_string();
    assert!(error.contains("write \"within\": \"31s\" or more"), "{error}");
    let always = r#"{"always": "full", "for": "6s", "claim": "c"}"#;
    parse(&format!(r#"{always}, {{"when": "after 36s"}}"#)).unwrap();
}

#[test]
fn the_field_that_is_wrong_is_named_at_its_own_line() {
    let text = "{\n\"format\": 1, \"name\": \"x\", \"steps\": [{\n\"do\": \"kill\",\n\"with\": {\n\
                \"aim\": {\"nodes\": [\n\"$f\"]}}}]}";
    let error = format::parse(Path::new("my.json"), text).unwrap_err().to_string();
    assert_eq!(
        error,
        "my.json: line 6: field `steps[0].with.aim.nodes[0]`: `$f` is not bound by any `let` before"
    );
}

#[test]
fn a_file_that_is_no_text_is_named_with_its_line() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("s.json");
    std::fs::write(&path, b"{\n\xff").unwrap();
    let ask = Ask { seed: 1, time_ms: 1, replicas: 3, proxies: true };
    let error = load(path.to_str().unwrap(), &ask).unwrap_err().to_string();
    assert_eq!(error, format!("{}: line 2: this is no UTF-8 text", path.display()));
}
