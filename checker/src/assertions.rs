//! What the run's schedule asserts of its own outcome, and what it expects of the verdict's counts.

use highwater_history::{
    Outcome, Promise, Verdict, manifest::Expectation, outcome::Assertion, verdict::Validity,
};
use serde_json::{Value, json};

use crate::{evidence::Evidence, judge::Options};

/// Adds the assertions to the verdict. They decide it only where all else is valid: where too
/// little happened or too little is known, that is why they failed.
///
/// They belong to the run as it was made: a verdict on some claims, or by other promises, leaves
/// them out and says so.
pub(crate) fn judge(verdict: &mut Verdict, evidence: &Evidence, options: &Options) {
    let mut assertions: Vec<Assertion> = evidence.outcome.iter().flat_map(asserted).collect();
    let manifest = evidence.manifest.iter().filter(|_| evidence.outcome.is_some());
    let expected = manifest.flat_map(|manifest| &manifest.expect);
    assertions.extend(expected.map(|expectation| met(expectation, verdict)));
    if assertions.is_empty() {
        return;
    }
    if options.claims.is_some() || options.promise != Promise::default() {
        verdict.notes.push("what the schedule asserts was not judged".to_owned());
        return;
    }
    verdict.assertions = assertions;
    if verdict.verdict == Validity::Valid
        && let Some((validity, reason)) = decide(&verdict.assertions)
    {
        (verdict.verdict, verdict.exit, verdict.reason) = (validity, validity.exit(), reason);
    }
}

fn decide(assertions: &[Assertion]) -> Option<(Validity, String)> {
    let those = |held| assertions.iter().filter(move |assertion| assertion.held == held);
    if let Some(first) = those(Some(false)).next() {
        let others = more(those(Some(false)).count() - 1);
        let why = format!("the schedule asserts what did not hold: {}{others}", first.claim);
        return Some((Validity::Invalid, why));
    }
    let first = those(None).next()?;
    let others = more(those(None).count() - 1);
    let reason = first.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    let claim = &first.claim;
    let why = format!("the schedule asserts what nobody can decide: {claim}{reason}{others}");
    Some((Validity::Unknown, why))
}

fn more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(", and {others} more") }
}

/// What the run saw of its schedule's assertions; what it missed while it was late is undecided.
fn asserted(outcome: &Outcome) -> impl Iterator<Item = Assertion> {
    outcome.assertions.iter().map(|assertion| {
        let mut assertion = assertion.clone();
        if assertion.held == Some(false) && lagged(outcome, &assertion.seen) {
            assertion.held = None;
            assertion.reason = Some("the harness itself was late then".to_owned());
        }
        assertion
    })
}

/// Whether the harness was late while it looked.
fn lagged(outcome: &Outcome, seen: &Value) -> bool {
    let at = |name: &str| seen.get(name).and_then(Value::as_u64);
    let (Some(from), Some(to)) = (at("from"), at("to")) else { return false };
    outcome.lag_windows.iter().any(|lag| lag.from <= to && lag.to >= from)
}

fn met(expectation: &Expectation, verdict: &Verdict) -> Assertion {
    let Expectation { count, at_least, at_most } = expectation;
    let found = counted(count, verdict);
    let bounds = [
        at_least.map(|least| (format!("at least {least}"), found >= least)),
        at_most.map(|most| (format!("at most {most}"), found <= most)),
    ];
    let (texts, held): (Vec<_>, Vec<_>) = bounds.into_iter().flatten().unzip();
    Assertion {
        claim: format!("{count} is {}", texts.join(" and ")),
        held: Some(held.into_iter().all(|held| held)),
        seen: json!(found),
        reason: None,
    }
}

/// A count of the verdict by its name; what never happened is 0.
fn counted(name: &str, verdict: &Verdict) -> u64 {
    let of = |counts: &Value, name: &str| counts.get(name).and_then(Value::as_u64);
    let found = match name.split_once('.') {
        Some(("anomalies", name)) => verdict.anomalies.get(name).copied(),
        Some(("permitted", name)) => verdict.permitted.get(name).copied(),
        Some(("counts", name)) => of(&json!(verdict.counts), name),
        _ => None,
    };
    found.unwrap_or(0)
}
