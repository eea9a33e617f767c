//! `junit.xml`: one test case a claim, a floor and an assertion, as CI servers read them; one suite
//! a run.

#[cfg(test)]
mod tests;

use std::{fs, path::Path};

use highwater_history::{
    Verdict,
    format::write_synced,
    outcome::Assertion,
    verdict::{ClaimVerdict, Coverage, Finding, Judgement, Validity},
};
use quick_junit::{
    NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite,
};

use crate::{
    error::ReportError,
    parts::{counts_text, rules_text},
};

/// The most findings of a claim that its failure lists.
const FINDINGS: usize = 20;

/// What a report, and the suite of a run that is alone in it, is called.
const NAME: &str = "highwater";

/// The verdict as JUnit: invalid and vacuous are failures, unknown is an error.
pub(crate) fn xml(verdict: &Verdict) -> Result<String, SerializeError> {
    let mut report = Report::new(NAME);
    report.add_test_suite(suite(NAME, cases(verdict)));
    Ok(well_formed(&report.to_string()?))
}

/// The runs of many seeds as one JUnit report: a suite each, named for its seed.
#[derive(Debug, Default)]
pub struct Runs {
    suites: Vec<TestSuite>,
}

impl Runs {
    /// Adds a run that was judged.
    pub fn judged(&mut self, seed: u64, verdict: &Verdict) {
        self.suites.push(suite(&name(seed), cases(verdict)));
    }

    /// Adds a run that came to no verdict: why, and the command that repeats it.
    pub fn failed(&mut self, seed: u64, why: &str, reproduce: &str) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("failed").set_message(why).set_description(repeat_with(reproduce));
        self.suites.push(suite(&name(seed), vec![case("run", "verdict", status)]));
    }

    /// Whether no run was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.suites.is_empty()
    }

    /// Writes them into a file, which is replaced whole; its folder is made.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), ReportError> {
        let mut report = Report::new(NAME);
        report.add_test_suites(self.suites.iter().cloned());
        let xml = well_formed(&report.to_string()?);
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| write_synced(file, xml.as_bytes()))
            .map_err(|source| ReportError::Write { file: file.to_owned(), source })
    }
}

/// With U+FFFD for what XML 1.0 has no place for, also as a reference (its section 2.2); texts come
/// from brokers and files, which may hold anything.
fn well_formed(xml: &str) -> String {
    let kept = |c| if is_xml(c) { c } else { char::REPLACEMENT_CHARACTER };
    xml.chars().map(kept).collect()
}

fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn name(seed: u64) -> String {
    format!("{NAME}.seed-{seed}")
}

/// A suite; its cases bear its name in their classes, as servers tell cases by class and name.
fn suite(name: &str, mut cases: Vec<TestCase>) -> TestSuite {
    for case in &mut cases {
        let class = case.classname.as_ref().map_or("", |class| class.as_str());
        let class = format!("{name}.{class}");
        case.set_classname(class);
    }
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(cases);
    suite
}

fn cases(verdict: &Verdict) -> Vec<TestCase> {
    let mut cases = vec![whole(verdict)];
    cases.extend(verdict.claims.iter().map(|claim| of_claim(claim, verdict)));
    cases.extend(verdict.coverage.iter().map(|floor| of_floor(floor, verdict)));
    cases.extend(verdict.assertions.iter().map(|one| of_assertion(one, verdict)));
    cases
}

/// The judgement as a whole: it fails also where no claim alone does, as when a run was cut short.
fn whole(verdict: &Verdict) -> TestCase {
    case("run", "verdict", status(verdict.verdict, &verdict.reason, || repeat(verdict)))
}

fn of_claim(claim: &ClaimVerdict, verdict: &Verdict) -> TestCase {
    let counts = counts_text(&claim.anomalies);
    let message = match (claim.verdict, &claim.reason) {
        (Judgement::Invalid, _) if !counts.is_empty() => format!("{counts}: {}", claim.title),
        (_, Some(reason)) => reason.clone(),
        (_, None) => claim.title.clone(),
    };
    let details = || {
        let violations = claim.findings.iter().filter(|finding| finding.clause.is_none());
        let lines: Vec<String> = violations.take(FINDINGS).map(finding_text).collect();
        format!("{}\n{}", lines.join("\n"), repeat(verdict)).trim_start().to_owned()
    };
    let mut case = case("claim", &claim.claim, claim_status(claim.verdict, &message, details));
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
    case.set_classname(class);
    case
}

/// As [`status`]; a claim that has nothing to judge is skipped.
fn claim_status(
    judged: Judgement,
    message: &str,
    details: impl FnOnce() -> String,
) -> TestCaseStatus {
    match judged {
        Judgement::Valid | Judgement::PermittedOnly => TestCaseStatus::success(),
        Judgement::Unknown => status(Validity::Unknown, message, details),
        Judgement::Invalid => status(Validity::Invalid, message, details),
        Judgement::NotApplicable => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(message);
            skipped
        }
    }
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
    verdict.reproduce.as_deref().map_or_else(String::new, repeat_with)
}

fn repeat_with(command: &str) -> String {
    format!("repeat with: {command}")
}
