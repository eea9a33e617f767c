//! `junit.xml`: one test case a claim, a floor and an assertion, as CI servers read them.

use highwater_history::{
    Verdict,
    outcome::Assertion,
    verdict::{ClaimVerdict, Coverage, Finding, Validity},
};
use quick_junit::{
    NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite,
};

use crate::parts::{counts_text, rules_text};

/// The most findings of a claim that its failure lists.
const FINDINGS: usize = 20;

/// The verdict as JUnit: invalid and vacuous are failures, unknown is an error.
pub(crate) fn xml(verdict: &Verdict) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new("highwater");
    suite.add_test_case(whole(verdict));
    suite.add_test_cases(verdict.claims.iter().map(|claim| of_claim(claim, verdict)));
    suite.add_test_cases(verdict.coverage.iter().map(|floor| of_floor(floor, verdict)));
    suite.add_test_cases(verdict.assertions.iter().map(|one| of_assertion(one, verdict)));
    let mut report = Report::new("highwater");
    report.add_test_suite(suite);
    report.to_string()
}

/// The judgement as a whole: it fails also where no claim alone does, as when a run was cut short.
fn whole(verdict: &Verdict) -> TestCase {
    case("run", "verdict", status(verdict.verdict, &verdict.reason, || repeat(verdict)))
}

fn of_claim(claim: &ClaimVerdict, verdict: &Verdict) -> TestCase {
    let counts = counts_text(&claim.anomalies);
    let message = match (claim.verdict, &claim.reason) {
        (Validity::Invalid, _) if !counts.is_empty() => format!("{counts}: {}", claim.title),
        (_, Some(reason)) => reason.clone(),
        (_, None) => claim.title.clone(),
    };
    let details = || {
        let violations = claim.findings.iter().filter(|finding| finding.clause.is_none());
        let lines: Vec<String> = violations.take(FINDINGS).map(finding_text).collect();
        format!("{}\n{}", lines.join("\n"), repeat(verdict)).trim_start().to_owned()
    };
    let mut case = case("claim", &claim.claim, status(claim.verdict, &message, details));
    case.add_property(Property::new("rules", rules_text(&claim.rules)));
    if !claim.permitted.is_empty() {
        case.add_property(Property::new("permitted", counts_text(&claim.permitted)));
    }
    case
}

fn of_floor(floor: &Coverage, verdict: &Verdict) -> TestCase {
    let Coverage { floor: name, wanted, got } = floor;
    let judged = if got >= wanted { Validity::Valid } else { Validity::Vacuous };
    let message = format!("too little happened: {name} is {got}, at least {wanted} was wanted");
    case("coverage", name, status(judged, &message, || repeat(verdict)))
}

/// What the schedule asserts: it fails the run only where all else is valid, but is told anyway.
fn of_assertion(assertion: &Assertion, verdict: &Verdict) -> TestCase {
    let Assertion { claim, held, reason, seen } = assertion;
    let (judged, message) = match held {
        Some(true) => (Validity::Valid, claim.clone()),
        Some(false) => (Validity::Invalid, format!("did not hold: {claim}")),
        None => (Validity::Unknown, reason.clone().unwrap_or_else(|| "undecided".to_owned())),
    };
    let details = || format!("seen: {seen}\n{}", repeat(verdict));
    case("schedule", claim, status(judged, &message, details))
}

fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("highwater.{class}"));
    case
}

fn status(judged: Validity, message: &str, details: impl FnOnce() -> String) -> TestCaseStatus {
    let kind = match judged {
        Validity::Valid => return TestCaseStatus::success(),
        Validity::Invalid | Validity::Vacuous => NonSuccessKind::Failure,
        Validity::Unknown => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(judged.as_str()).set_message(message).set_description(details());
    status
}

fn finding_text(finding: &Finding) -> String {
    let Finding { anomaly, rule, evidence, why, .. } = finding;
    format!("{anomaly} (rule {rule}, {evidence}): {why}")
}

fn repeat(verdict: &Verdict) -> String {
    let command = verdict.reproduce.as_ref();
    command.map_or_else(String::new, |command| format!("repeat with: {command}"))
}
