//! The classes about offsets that brokers are asked for: those committed by groups, and logs' ends.

use std::collections::BTreeMap;

use highwater_history::{Key, Offset};

use super::{
    facts::Facts,
    history::Operation,
    tally::{Promised, Tally},
};

/// What an operation said of a group's offset of a key: none is a place below all.
type Said<'a> = (&'a Operation, Option<Offset>);

/// A group's offset of a key regressed if the last answer is below the group's last accepted commit
/// before the question, and no commit explains it: one that may stand behind that one (nobody knows
/// when an unknown one takes effect), began before the answer and named this offset. By the
/// answered process's own commits alone no clock is needed.
pub fn offset_regression(facts: &Facts, _: &Promised) -> Tally {
    let mut answers: BTreeMap<(&str, &Key), Said<'_>> = BTreeMap::new();
    for op in facts.operations.iter().filter(|op| op.is_ok()) {
        for (fetch, (key, offset)) in
            op.fetch.iter().flat_map(|fetch| fetch.offsets.iter().map(move |told| (fetch, told)))
        {
            answers.insert((&fetch.group, key), (op, *offset));
        }
    }
    let mut tally = Tally::default();
    for ((group, key), (op, offset)) in answers {
        let commits = commits(facts, group, key);
        let own = last_before(&commits, op, |by| by.process == op.process);
        let any = last_before(&commits, op, |_| true);
        let is_above = |commit: Option<Said<'_>>| {
            commit.is_some_and(|commit| {
                commit.1 > offset && !is_explained(&commits, commit.0, (op, offset))
            })
        };
        if is_above(own) {
            tally.add(false);
        } else if is_above(any) {
            tally.add(true);
        }
    }
    tally
}

/// Commits of a group that did not fail and name a key, in the order in which they began.
fn commits<'a>(facts: &'a Facts, group: &str, key: &Key) -> Vec<Said<'a>> {
    let mut named = Vec::new();
    for op in facts.operations.iter().filter(|op| !op.is_fail()) {
        let Some(commit) = op.commit.as_ref().filter(|commit| commit.group == group) else {
            continue;
        };
        if let Some((_, offset)) = commit.offsets.iter().find(|(of, _)| of == key) {
            named.push((op, Some(*offset)));
        }
    }
    named
}

fn last_before<'a>(
    commits: &[Said<'a>],
    question: &Operation,
    by: impl Fn(&Operation) -> bool,
) -> Option<Said<'a>> {
    let accepted = commits.iter().filter(|(op, _)| op.is_ok() && op.ended_before(question));
    accepted.filter(|(op, _)| by(op)).last().copied()
}

fn is_explained(commits: &[Said<'_>], last: &Operation, (answer, offset): Said<'_>) -> bool {
    commits.iter().any(|(op, named)| {
        let surely_before = op.is_ok() && op.ended_before(last);
        *named == offset && !surely_before && !answer.ended_before(op)
    })
}

/// The end of a log that an operation is told regressed if it is below one that had been told
/// before, or not above an offset that had been read before, by an operation of any outcome. Of
/// other processes that is permitted without one clock.
pub fn latest_regression(facts: &Facts, _: &Promised) -> Tally {
    let mut tally = Tally::default();
    for op in facts.operations.iter().filter(|op| op.is_ok()) {
        for (key, end) in &op.ends {
            let earlier = facts.operations.iter().filter(|other| other.ended_before(op));
            let above: Vec<_> = earlier.filter(|other| knows_above(other, key, *end)).collect();
            if !above.is_empty() {
                tally.add(above.iter().all(|other| other.process != op.process));
            }
        }
    }
    tally
}

fn knows_above(op: &Operation, key: &Key, end: Offset) -> bool {
    let told = op.is_ok() && op.ends.iter().any(|(of, above)| of == key && *above > end);
    told || op.reads.iter().any(|read| read.key == *key && read.offset >= Some(end))
}
