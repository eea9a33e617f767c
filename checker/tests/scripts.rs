//! Runs the cases of `testdata/`: small histories in a short notation, with the verdict they get.
//!
//! `UPDATE=1` rewrites the verdicts; look at the difference before you keep it. The notation is
//! explained in `script/parse.rs`.

mod explain;
mod parts;
mod script;
mod what_if;

use std::{collections::BTreeSet, fs, path::PathBuf};

use highwater_checker::claim;
use highwater_history::verdict::Judgement;

fn testdata() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(testdata()).expect("testdata can be listed");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    files
}

#[test]
fn every_case_gets_its_verdict() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("a case file is text");
        let judged =
            script::judge_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        if judged == text {
            continue;
        }
        if update {
            fs::write(&file, judged).expect("a case file can be written");
        } else {
            wrong.push(format!("{}:\n{}", file.display(), script::difference(&text, &judged)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_case_gets_its_verdict_by_parts() {
    for file in files() {
        let text = fs::read_to_string(&file).expect("a case file is text");
        for case in script::cases(&text) {
            let (evidence, options) = script::evidence_of(case.script).expect("it is a case");
            let name = case.script.lines().next().unwrap_or_default();
            parts::agrees(&evidence, &options)
                .unwrap_or_else(|why| panic!("{}: {name}: {why}", file.display()));
        }
    }
}

#[test]
fn every_claim_has_an_accepted_and_a_rejected_case() {
    for (name, _, entry) in claim::TABLE {
        let file = testdata().join(format!("claim_{}.txt", name.replace('-', "_")));
        let text =
            fs::read_to_string(&file).unwrap_or_else(|_| panic!("{} is missing", file.display()));
        let cases = script::cases(&text);
        assert!(cases.iter().any(|case| case.verdict.starts_with("valid")), "{name} accepts");
        for anomaly in entry.anomalies {
            let found = |line: &str| {
                let line = line.strip_prefix("permitted ").unwrap_or(line);
                line.split(' ').next() == Some(anomaly)
            };
            let seen = cases.iter().any(|case| case.verdict.lines().any(found));
            assert!(seen, "{name} shows {anomaly}");
        }
    }
}

/// Outcomes that claims cannot have.
const NEVER: &[(Judgement, &[&str])] = &[
    (Judgement::Valid, &[]),
    (Judgement::Invalid, &[]),
    (Judgement::PermittedOnly, NOTHING_PERMITS),
    (Judgement::Unknown, &[]),
    (Judgement::NotApplicable, EVERY_HISTORY_TELLS),
];

/// No clause permits what they find: it is a fault whatever was promised, or they do not find what
/// is permitted.
const NOTHING_PERMITS: &[&str] = &[
    "corrupt-payload",
    "divergence",
    "early-ack",
    "epoch-regression",
    "idempotence-broken",
    "isr-illegal",
    "lineage",
    "metadata-divergence",
    "producer-id-reuse",
    "successor-mismatch",
    "watermark-order",
    "watermark-regression",
    "watermark-stuck",
    "within-limits",
];

/// They speak of sends, polls and sessions, which every history has: where one has none it is
/// vacuous.
const EVERY_HISTORY_TELLS: &[&str] = &[
    "corrupt-payload",
    "duplicate",
    "failed-yet-visible",
    "idempotence-broken",
    "inconsistent-offsets",
    "lineage",
    "lost-write",
    "nonmonotonic-poll",
    "nonmonotonic-send",
    "phantom-read",
    "precommitted-read",
    "producer-id-reuse",
    "real-time-order",
    "reread-mismatch",
    "split-brain-write",
    "successor-mismatch",
    "unseen",
];

/// Each claim comes to each of the five outcomes in some case, but for those that it cannot have.
#[test]
fn every_claim_comes_to_every_outcome() {
    let mut seen: BTreeSet<(Judgement, String)> = BTreeSet::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("a case file is text");
        for case in script::cases(&text) {
            let verdict = script::verdict_of(case.script).expect("it is judged");
            seen.extend(verdict.claims.into_iter().map(|claim| (claim.verdict, claim.claim)));
        }
    }
    let all = [
        Judgement::Valid,
        Judgement::Invalid,
        Judgement::PermittedOnly,
        Judgement::Unknown,
        Judgement::NotApplicable,
    ];
    let names = claim::TABLE.iter().map(|(name, ..)| *name);
    let missing = |outcome: &Judgement| {
        let unseen = |name: &&str| !seen.contains(&(*outcome, (*name).to_owned()));
        names.clone().filter(unseen).collect::<Vec<_>>()
    };
    let missing: Vec<_> = all.iter().map(|outcome| (*outcome, missing(outcome))).collect();
    let never: Vec<_> = NEVER.iter().map(|(outcome, of)| (*outcome, of.to_vec())).collect();
    assert_eq!(missing, never);
}

/// Of every finding of every case the explanation is enough, and none of it is too much.
#[test]
fn every_finding_of_every_case_has_a_least_explanation() {
    let mut wrong = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("a case file is text");
        for case in script::cases(&text) {
            let name = case.script.lines().next().unwrap_or_default();
            let evidence = || script::evidence_of(case.script).expect("it was judged");
            let faults = explain::faults_of(evidence, usize::MAX);
            wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of every case the what-if says what `check` says by these promises, and the least of that.
#[test]
fn every_case_is_legal_by_what_its_what_if_says() {
    let mut wrong = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("a case file is text");
        for case in script::cases(&text) {
            let name = case.script.lines().next().unwrap_or_default();
            let evidence = || script::evidence_of(case.script).expect("it was judged");
            let faults = what_if::faults_of(&evidence);
            wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const LOST: &str = "== lost
run acks=all
config x min.insync.replicas 2
leader x 1
1: S x a ok@0 n1
2: S x b ok@1 n1
P 9 x[0:a]
dump x 3 0:a/0 1:b/0
struck power-loss 1 1:x-0:70
dump x 1 0:a/0
leader x 2
log x 2 0:a/0 1:c/1
follower x 1 0:a/0
";

/// Rule 38: whoever looks for a lost record is told where it was last.
#[test]
fn rule_38_a_lost_write_tells_what_each_replica_held_and_when() {
    let verdict = script::verdict_of(LOST).expect("it is judged");
    let findings = verdict.claims.iter().flat_map(|claim| &claim.findings);
    let mut lost = findings.filter(|finding| finding.anomaly == "lost-write");
    let why = &lost.next().expect("a lost write").why;
    for told in [
        "held by node 3 at 1 before a restart, 0.047 s (x-3-0)",
        "at the end node 2 has 3 of epoch 1, node 1 has nothing there and ends at 1",
    ] {
        assert!(why.contains(told), "{why}");
    }
}

/// c.1: what was lost without permission is measured as what was lost with it.
#[test]
fn metrics_tell_how_much_was_lost_and_who_had_acknowledged_it() {
    let forbidden = script::verdict_of(LOST).expect("it is judged").metrics;
    let promised = LOST.replace("== lost", "== lost\npromise min.insync.replicas=1");
    let permitted = script::verdict_of(&promised).expect("it is judged").metrics;
    let (forbidden, permitted) = (&forbidden["forbidden-loss"][0], &permitted["permitted-loss"][0]);
    for loss in [forbidden, permitted] {
        assert_eq!(loss["records"], 1, "{loss}");
        assert_eq!(loss["offsets"], serde_json::json!([1, 1]), "{loss}");
        assert_eq!(loss["acknowledged_by"], serde_json::json!([1]), "{loss}");
    }
    assert_eq!(permitted["clause"], "c.1.2");
    assert_eq!(permitted["fulfilled_by"], "power-loss of node 1 (event 7); min ISR was 1");
}

#[test]
fn metrics_name_the_acks_levels_at_which_anything_was_acknowledged() {
    let script = "== sent\nopen 2 acks=1\n1: S x a ok@0\n2: S x b fail\nP 9 x[0:a]";
    let metrics = script::verdict_of(script).expect("it is judged").metrics;
    assert_eq!(metrics["acknowledged-by-acks"], serde_json::json!({"all": 1}));
}

/// What a finding stands on beside the history is told file by file, and what the nemesis did.
#[test]
fn an_explanation_tells_of_dumps_and_faults() {
    let (mut evidence, options) = script::evidence_of(LOST).expect("it is evidence");
    let verdict = highwater_checker::check(&evidence, &options).expect("it is judged");
    let mut numbered = verdict.numbered();
    let lost = numbered.find(|(.., finding)| finding.anomaly == "lost-write");
    let (number, ..) = lost.expect("a lost write");
    let explain = highwater_checker::explain::explain;
    let told = explain(&mut evidence, &options, &verdict, number).expect("it is explained");
    let operations: Vec<_> = told.operations.iter().map(|row| row.asked.as_str()).collect();
    assert_eq!(operations, ["send x 2"]);
    let text = told.text();
    for line in [
        "dumps/x-3-0 line 3: x on node 3 before a restart: offset 1, epoch 0, value 2",
        "dumps/x-2-2 line 3: x on node 2 at the end: offset 1, epoch 1, value 3",
        "dumps/x-1-3: x on node 1 at the end: ends at 1",
        "outcome.json: how the run ended",
        "It rests on what is not there: the final log does not hold it.",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let again = explain(&mut evidence, &options, &verdict, number).expect("it is explained again");
    assert_eq!(again.text(), text, "the evidence is as it was");
}
