//! What an explanation has to hold to: its operations are enough, and none of them too many.

use highwater_checker::{
    Evidence, History, Options, check,
    explain::{Explanation, explain},
};
use highwater_history::{
    Event, EventValue, Verdict,
    event::{MicroOp, Process},
    verdict::Finding,
};

/// What is wrong with the explanations of a history's findings; `evidence` gives it anew each time.
pub fn faults_of(evidence: impl Fn() -> (Evidence, Options), at_most: usize) -> Vec<String> {
    let (whole, options) = evidence();
    let Ok(verdict) = check(&whole, &options) else { return Vec::new() };
    let mut faults = Vec::new();
    for (number, ..) in verdict.numbered().take(at_most) {
        let (mut again, options) = evidence();
        match explain(&mut again, &options, &verdict, number) {
            Ok(explanation) => faults.extend(faults_in(&explanation, &evidence)),
            Err(error) => faults.push(format!("finding {number}: {error}")),
        }
    }
    faults
}

fn faults_in(
    explanation: &Explanation,
    evidence: &impl Fn() -> (Evidence, Options),
) -> Option<String> {
    let sender = sender(&evidence().0, &explanation.finding);
    let shows = |events: &[Event]| {
        let (mut evidence, mut options) = evidence();
        let (events, was) = with_surroundings(explanation, events);
        evidence.history = History::Events(events);
        options.claims = Some(vec![explanation.claim.clone()]);
        let verdict = check(&evidence, &options).expect("a part of a history is one");
        has(&verdict, &was, (&explanation.finding, sender))
    };
    let what = format!("{:?}", explanation.finding);
    if !shows(&explanation.events) {
        return Some(format!("not enough: {what}: {:?}", explanation.operations));
    }
    let spare = explanation.operations.iter().find(|row| {
        let others = explanation.events.iter().filter(|event| !row.events.contains(&event.index));
        shows(&others.cloned().collect::<Vec<_>>())
    });
    spare.map(|row| format!("too many: {what}: {:?} of {:?}", row, explanation.operations))
}

/// A history of these events, and the index that each had.
fn with_surroundings(explanation: &Explanation, events: &[Event]) -> (Vec<Event>, Vec<u64>) {
    assert!(events.iter().all(|event| matches!(event.process, Process::Client(_))));
    let mut all: Vec<Event> = events.iter().chain(&explanation.surroundings).cloned().collect();
    all.sort_by_key(|event| event.index);
    let was = all.iter().map(|event| event.index).collect();
    for (nth, event) in all.iter_mut().enumerate() {
        event.index = nth as u64;
    }
    (all, was)
}

/// Whether the finding is there: the same at the same place, and of the same send.
fn has(verdict: &Verdict, was: &[u64], (finding, sender): (&Finding, Option<u64>)) -> bool {
    let same = |found: &Finding| {
        found.anomaly == finding.anomaly
            && found.key == finding.key
            && (found.value, found.offset) == (finding.value, finding.offset)
            && found.clause == finding.clause
            && sender.is_none_or(|send| found.events.iter().any(|at| was[*at as usize] == send))
    };
    verdict.numbered().any(|(.., found)| same(found))
}

/// Index of the send of the finding's record, if the finding names it.
fn sender(evidence: &Evidence, finding: &Finding) -> Option<u64> {
    let History::Events(all) = &evidence.history else { return None };
    let is_send = |op: &MicroOp| match op {
        MicroOp::Send { key, value, .. } => {
            finding.key.as_ref() == Some(key) && finding.value == Some(*value)
        }
        MicroOp::Poll { .. } => false,
    };
    let sends = |event: &&Event| match &event.value {
        EventValue::Ops(ops) => ops.iter().any(is_send),
        _ => false,
    };
    all.iter().find(sends).map(|event| event.index).filter(|at| finding.events.contains(at))
}
