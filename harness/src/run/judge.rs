//! Judges a run folder, renders its reports and tells the verdict.

use highwater_checker::{Evidence, Options, check, evidence::Instead};
use highwater_history::{Outcome, RunFolder, Verdict, format::Document, outcome::Assertion};
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
    /// What it asserted and nobody can decide, one sentence each.
    pub undecided: Vec<String>,
}

impl Judged {
    /// Exit status: the verdict's, or where that is valid 1 when an assertion of the schedule did
    /// not hold and 2 when one could not be decided.
    #[must_use]
    pub fn exit(&self) -> u8 {
        match self.verdict.exit {
            0 if !self.broken.is_empty() => 1,
            0 if !self.undecided.is_empty() => 2,
            status => status,
        }
    }

    /// Both, as sentences for the user.
    pub fn complaints(&self) -> impl Iterator<Item = &String> {
        self.broken.iter().chain(&self.undecided)
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
    let (mut broken, undecided) = evidence.outcome.as_ref().map_or_else(Default::default, asserted);
    broken.extend(not_as_expected(&verdict, &evidence));
    Ok(Judged { verdict, broken, undecided })
}

fn not_as_expected(verdict: &Verdict, evidence: &Evidence) -> Vec<String> {
    let planned = evidence.manifest.as_ref().map(|manifest| manifest.schedule.clone());
    let schedule: Option<Schedule> = planned.and_then(|plan| serde_json::from_value(plan).ok());
    let counted = serde_json::to_value(verdict).expect("a verdict is plain JSON");
    let expected = schedule.iter().flat_map(|schedule| &schedule.expect);
    expected.filter_map(|expectation| unmet(expectation, &counted)).collect()
}

/// The assertions that did not hold, and those that nobody can decide.
fn asserted(outcome: &Outcome) -> (Vec<String>, Vec<String>) {
    let (mut broken, mut undecided) = (Vec::new(), Vec::new());
    for Assertion { claim, held, seen } in &outcome.assertions {
        match held {
            Some(true) => {}
            Some(false) if !lagged(outcome, seen) => broken.push(format!("did not hold: {claim}")),
            Some(false) => undecided
                .push(format!("could not be decided, the harness itself was late then: {claim}")),
            None => undecided.push(format!("could not be decided: {claim}")),
        }
    }
    (broken, undecided)
}

/// Whether the harness was late while it looked.
fn lagged(outcome: &Outcome, seen: &Value) -> bool {
    let at = |name: &str| seen.get(name).and_then(Value::as_u64);
    let (Some(from), Some(to)) = (at("from"), at("to")) else { return false };
    outcome.lag_windows.iter().any(|lag| lag.from <= to && lag.to >= from)
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

#[cfg(test)]
mod tests {
    use highwater_history::{
        Outcome,
        outcome::{Assertion, Ended, LagWindow},
    };
    use serde_json::json;

    use super::asserted;

    fn counted(held: Option<bool>, lag: Option<(u64, u64)>) -> (usize, usize) {
        let mut outcome = Outcome::new(Ended::Complete, 0);
        let (claim, seen) = ("it leaves".to_owned(), json!({"from": 10, "to": 20}));
        outcome.assertions.push(Assertion { claim, held, seen });
        let window = |(from, to)| LagWindow { from, to, lag: 1 };
        outcome.lag_windows.extend(lag.map(window));
        let (broken, undecided) = asserted(&outcome);
        (broken.len(), undecided.len())
    }

    #[test]
    fn what_nobody_can_decide_is_not_broken() {
        assert_eq!(counted(Some(true), Some((0, 99))), (0, 0));
        assert_eq!(counted(Some(false), None), (1, 0));
        assert_eq!(counted(Some(false), Some((21, 30))), (1, 0));
        assert_eq!(counted(Some(false), Some((5, 12))), (0, 1));
        assert_eq!(counted(None, None), (0, 1));
    }
}
