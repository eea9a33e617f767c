//! A group's commits come from its members in order, and pass over nothing that nobody was given.

use std::collections::BTreeSet;

use highwater_history::{Offset, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{Group, GroupCommit, operations::Outcome},
    view::{KeyView, RunView},
};

/// Counts commits that were accepted from a generation that was over, and records that a group
/// passed over: below its committed offset or below what it was given, and given to no member. That
/// a group is given a record again is legal.
pub static ENTRY: Entry = Entry {
    rules: &[60, 62, 63],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4", "c.1.5"],
    evidence: &["D8", "D11"],
    anomalies: &["stale-commit", "group-skip"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_key),
};

fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    if run.index.groups.is_empty() {
        findings.not_applicable("no consumer is in a group");
    }
    for group in &run.index.groups {
        stale(run, &group.commits, findings);
    }
}

fn judge_key(view: &KeyView<'_>, findings: &mut Findings) {
    for group in &view.run.index.groups {
        skipped(view, group, findings);
    }
}

/// Rule 63: a commit that was accepted although one of a later generation had been before it began.
fn stale(run: &RunView<'_>, commits: &[GroupCommit], findings: &mut Findings) {
    let accepted = commits.iter().filter_map(|commit| {
        let operation = run.index.ops.get(commit.op);
        let generation = commit.generation.filter(|_| operation.outcome == Outcome::Ok)?;
        Some((operation.completion()?, generation))
    });
    let mut accepted: Vec<(u64, i64)> = accepted.collect();
    accepted.sort_unstable();
    let mut newest = None;
    let mut next = accepted.iter().peekable();
    for commit in commits {
        let operation = run.index.ops.get(commit.op);
        while let Some(before) = next.next_if(|(completed, _)| *completed < operation.invoked) {
            newest = newest.max(Some((before.1, before.0)));
        }
        let (Some(generation), Some((newest, event))) = (commit.generation, newest) else {
            continue;
        };
        if operation.outcome == Outcome::Ok && generation < newest {
            let ruling = run.untimed().map_or(Ruling::Forbidden, Ruling::Permitted);
            findings.rule("stale-commit", ruling, || Finding {
                rule: 63,
                evidence: "D11".to_owned(),
                events: std::iter::once(event).chain(operation.events()).collect(),
                why: format!(
                    "group {} accepted a commit of generation {generation} after one of \
                     generation {newest}",
                    commit.group
                ),
                ..Finding::default()
            });
        }
    }
}

/// Rule 60, for a group: what lies between the first record that it was given and the last one, or
/// its committed offset, was given to a member.
fn skipped(view: &KeyView<'_>, group: &Group, findings: &mut Findings) {
    let Group { name, members, committed, .. } = group;
    let committed = committed.get(&view.id).copied();
    let mut given: BTreeSet<Offset> = BTreeSet::new();
    for (run, read) in view.key.reads.polls() {
        if members.contains(&view.op(run.op).process) {
            given.extend(read.filter_map(|(at, id)| at.or_else(|| view.key.order.sole(id))));
        }
    }
    let (Some(first), Some(last)) = (given.first().copied(), given.last().copied()) else { return };
    let end = committed.map_or(last, |committed| committed.max(last));
    for (offset, holders) in view.key.order.iter() {
        if (first..end).contains(&offset) && !given.contains(&offset) {
            let rulings = holders.iter().map(|record| view.passing_over(*record, offset));
            let ruling = rulings.reduce(Ruling::and);
            let ruling = ruling.expect("a known offset has a holder");
            findings.rule("group-skip", ruling, || {
                let how = match committed.filter(|committed| *committed > offset) {
                    Some(committed) => format!("committed {committed}"),
                    None => format!("was given {last}"),
                };
                let why = format!("group {name} {how}, and none of its members was given it");
                view.finding(holders[0], Some(offset), 60, "D8", why)
            });
        }
    }
}
