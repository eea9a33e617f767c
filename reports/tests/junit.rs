//! `junit.xml`: a case a claim and a floor, failures with their finding and the repeat command.

#![allow(clippy::unwrap_used, reason = "what a test cannot do fails it")]

mod fixture;

use std::fs;

use fixture::{Folder, chaos, place, plain};
use highwater_history::{Verdict, format::Document};
use highwater_reports::junit::Runs;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

fn cases(name: &str, folder: &Folder) -> Vec<TestCase> {
    let folder = folder.write(&place(&format!("junit-{name}")));
    highwater_reports::render(&folder).unwrap();
    let xml = fs::read_to_string(folder.junit_path()).unwrap();
    let mut report = Report::deserialize_from_str(&xml).unwrap();
    assert_eq!(report.test_suites.len(), 1);
    report.test_suites.remove(0).test_cases
}

/// Kind, message and details of a case that is no success.
fn failure<'a>(cases: &'a [TestCase], name: &str) -> (NonSuccessKind, &'a str, &'a str) {
    let case = cases.iter().find(|case| case.name.as_str() == name).unwrap();
    match &case.status {
        TestCaseStatus::NonSuccess { kind, message, description, .. } => {
            let texts = [message, description].map(|text| text.as_ref().map_or("", |t| t.as_str()));
            (*kind, texts[0], texts[1])
        }
        status => panic!("{name} is {status:?}"),
    }
}

#[test]
fn a_valid_run_has_only_successes() {
    let cases = cases("valid", &plain::valid());
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["verdict", "lost-write", "read"]);
    for case in cases {
        assert!(matches!(case.status, TestCaseStatus::Success { .. }), "{:?}", case.name);
    }
}

#[test]
fn a_violation_is_a_failure_with_its_finding_and_the_repeat_command() {
    let cases = cases("invalid", &chaos::invalid(20));
    let (kind, message, details) = failure(&cases, "lost-write");
    assert_eq!(kind, NonSuccessKind::Failure);
    assert!(message.starts_with("2 lost-write: "), "{message}");
    assert!(details.contains("lost-write (rule 2, D1): value 478 was acknowledged"), "{details}");
    assert_eq!(details.lines().count(), 2, "permitted findings are no failure: {details}");
    assert!(
        details.ends_with("repeat with: highwater run --seed 17 --schedule default --time 60s")
    );
}

#[test]
fn what_the_schedule_asserts_is_a_case_each() {
    let cases = cases("asserted", &plain::not_as_asserted());
    let held = cases.iter().find(|case| case.name.as_str() == "a follower leaves the ISR").unwrap();
    assert_eq!(held.classname.as_ref().unwrap().as_str(), "highwater.schedule");
    assert!(matches!(held.status, TestCaseStatus::Success { .. }));
    let (kind, message, details) = failure(&cases, "it comes back");
    assert_eq!((kind, message), (NonSuccessKind::Failure, "did not hold: it comes back"));
    assert!(details.starts_with(r#"seen: {"condition":"isr(p) == [1]"}"#), "{details}");
    let (kind, message, _) = failure(&cases, "it catches up");
    assert_eq!((kind, message), (NonSuccessKind::Error, "the harness itself was late then"));
}

#[test]
fn an_undecided_claim_is_an_error() {
    let cases = cases("unknown", &plain::unknown());
    let (kind, message, _) = failure(&cases, "duplicate");
    assert_eq!(kind, NonSuccessKind::Error);
    assert_eq!(message, "the claim panicked: index out of bounds");
    let (kind, message, _) = failure(&cases, "verdict");
    assert_eq!(kind, NonSuccessKind::Error);
    assert!(message.contains("cut short"), "{message}");
}

#[test]
fn too_little_is_a_failure_that_says_what_was_missing() {
    let cases = cases("vacuous", &plain::vacuous());
    let (kind, message, details) = failure(&cases, "acknowledged.all");
    assert_eq!(kind, NonSuccessKind::Failure);
    assert_eq!(message, "too little happened: acknowledged.all is 0, at least 9 was wanted");
    assert!(details.contains("repeat with: "), "{details}");
    assert_eq!(failure(&cases, "verdict").1, "nothing was acknowledged");
}

#[test]
fn texts_of_others_do_not_break_the_file() {
    let cases = cases("hostile", &plain::hostile());
    let (_, message, _) = failure(&cases, "verdict");
    assert!(message.starts_with("<script>alert('x')</script>\"&<img"), "{message}");
}

/// docs/ci.md: the report of `run --seeds` has every run, and tells them apart.
#[test]
fn many_seeds_are_a_suite_each_of_one_report() {
    let mut runs = Runs::default();
    assert!(runs.is_empty());
    for (seed, folder) in [(7, plain::valid()), (8, chaos::invalid(20))] {
        let folder = folder.write(&place(&format!("junit-seed-{seed}")));
        runs.judged(seed, &Verdict::read(&folder.verdict_path()).unwrap());
    }
    runs.failed(9, "no space left", "highwater run --seed 9");
    let file = place("junit-seeds").join("not-there-yet").join("junit.xml");
    runs.write(&file).unwrap();
    runs.write(&file).unwrap();
    let xml = fs::read_to_string(&file).unwrap();
    let report = Report::deserialize_from_str(&xml).unwrap();
    let suite = |suite: &TestSuite| (suite.name.to_string(), suite.failures, suite.errors);
    let suites: Vec<_> = report.test_suites.iter().map(suite).collect();
    let named = |seed: u64| format!("highwater.seed-{seed}");
    assert_eq!((&suites[0], &suites[2]), (&(named(7), 0, 0), &(named(9), 0, 1)));
    assert!(suites[1].0 == named(8) && suites[1].1 > 0, "{suites:?}");
    let class = |case: &TestCase| case.classname.as_ref().unwrap().to_string();
    assert_eq!(class(&report.test_suites[0].test_cases[0]), "highwater.seed-7.run");
    let (kind, message, details) = failure(&report.test_suites[2].test_cases, "verdict");
    assert_eq!((kind, message), (NonSuccessKind::Error, "no space left"));
    assert_eq!(details, "repeat with: highwater run --seed 9");
}
