//! Judges a run folder, renders its reports and tells the verdict.

use highwater_checker::{Evidence, Options, check, evidence::Instead};
use highwater_history::{FormatError, Outcome, RunFolder, Verdict, format::Document};
use serde_json::Value;

use super::fail::Failure;
use crate::steps::{Expectation, Schedule};

/// A judged run.
#[derive(Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// What the schedule asserted or expected and did not get, one sentence each.
    pub broken: Vec<String>,
}

impl Judged {
    /// Exit status: the verdict's, or 1 when only an assertion of the schedule did not hold.
    #[must_use]
    pub fn exit(&self) -> u8 {
        match self.verdict.exit {
            0 if !self.broken.is_empty() => 1,
            status => status,
        }
    }
}

/// Judges a folder and writes `verdict.json`, `report.html` and `junit.xml` into it.
///
/// # Errors
/// When a file of the folder cannot be read or written.
pub fn judge(folder: &RunFolder, report: bool) -> Result<Judged, Failure> {
    let evidence = Evidence::load(folder.path(), &Instead::default())?;
    let verdict = check(&evidence, &Options::default())?;
    verdict.write(&folder.verdict_path())?;
    if report {
        highwater_reports::render(folder)?;
    }
    let broken = broken(&verdict, &evidence)?;
    Ok(Judged { verdict, broken })
}

fn broken(verdict: &Verdict, evidence: &Evidence) -> Result<Vec<String>, FormatError> {
    let mut broken: Vec<String> = evidence.outcome.as_ref().map_or_else(Vec::new, not_held);
    let planned = evidence.manifest.as_ref().map(|manifest| manifest.schedule.clone());
    let schedule: Option<Schedule> = planned.and_then(|plan| serde_json::from_value(plan).ok());
    let counted = serde_json::to_value(verdict).expect("a verdict is plain JSON");
    for expectation in schedule.iter().flat_map(|schedule| &schedule.expect) {
        broken.extend(unmet(expectation, &counted));
    }
    Ok(broken)
}

fn not_held(outcome: &Outcome) -> Vec<String> {
    let assertions = outcome.assertions.iter();
    let bad = assertions.filter(|assertion| assertion.held != Some(true));
    bad.map(|assertion| match assertion.held {
        Some(_) => format!("did not hold: {}", assertion.claim),
        None => format!("could not be decided: {}", assertion.claim),
    })
    .collect()
}

fn unmet(expectation: &Expectation, verdict: &Value) -> Option<String> {
    let found = expectation.count.split('.').try_fold(verdict, |at, name| at.get(name));
    let count = found.and_then(Value::as_u64).unwrap_or(0);
    let name = &expectation.count;
    if expectation.at_least.is_some_and(|least| count < least) {
        let least = expectation.at_least.unwrap_or(0);
        return Some(format!("expected {name} to be at least {least}; it is {count}"));
    }
    if expectation.at_most.is_some_and(|most| count > most) {
        let most = expectation.at_most.unwrap_or(0);
        return Some(format!("expected {name} to be at most {most}; it is {count}"));
    }
    None
}
