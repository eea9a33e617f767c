//! A group's committed offset is what its last commit said, and does not go back by itself.

use highwater_history::{Offset, TimeNs, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{
        Group,
        operations::{Operation, Outcome},
    },
    view::{KeyView, RunView},
};

/// Counts groups and keys of which the last that anybody was told is a committed offset below the
/// one that the group's last accepted commit named, or none at all. What an earlier answer told is
/// measured only: a new coordinator answers from what it has read so far (D11).
pub static ENTRY: Entry = Entry {
    rules: &[62, 64, 66, 67],
    clauses: &[],
    evidence: &["D11"],
    anomalies: &["offset-regression"],
    needs: &[Need::Outcome],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_key),
};

/// What is measured of answers that were put right later.
const HEALED: &str = "offset-regressions-healed";
/// Kafka's default of a week.
const RETENTION_MINUTES: u64 = 7 * 24 * 60;
const RETENTION: &str = "offsets.retention.minutes";
const NS_PER_MINUTE: TimeNs = 60_000_000_000;

fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    if run.index.groups.iter().all(|group| group.fetches.is_empty()) {
        findings.not_applicable("nobody asked for a group's committed offsets");
    }
}

/// A commit of the key, or an answer.
#[derive(Clone, Copy)]
struct Said<'a> {
    operation: &'a Operation,
    offset: Option<Offset>,
}

fn judge_key(view: &KeyView<'_>, findings: &mut Findings) {
    for group in &view.run.index.groups {
        let answers = answers(view, group);
        let Some((last, earlier)) = answers.split_last() else { continue };
        let commits = commits(view, group);
        for answer in earlier {
            if let Some(_healed) = regression(&commits, answer, |_| true) {
                findings.count(HEALED, 1);
            }
        }
        let own = |commit: &Said<'_>| commit.operation.process == last.operation.process;
        let by_own = regression(&commits, last, own);
        let Some(commit) = by_own.or_else(|| regression(&commits, last, |_| true)) else {
            continue;
        };
        let timed = view.run.untimed().filter(|_| by_own.is_none()).map(Ruling::Permitted);
        let ruling = timed.unwrap_or_else(|| ruling(view, commit, last));
        findings.rule("offset-regression", ruling, || describe(view, group, commit, last));
    }
}

/// What ok operations were told of the key, in the order in which they began.
fn answers<'a>(view: &KeyView<'a>, group: &'a Group) -> Vec<Said<'a>> {
    let told = group.fetches.iter().filter_map(|fetch| {
        let (_, offset) = fetch.offsets.iter().find(|(key, _)| *key == view.id)?;
        Some(Said { operation: view.op(fetch.op), offset: *offset })
    });
    told.collect()
}

/// The group's commits of the key that may have been accepted, in the order in which they began.
fn commits<'a>(view: &KeyView<'a>, group: &'a Group) -> Vec<Said<'a>> {
    let of_key = group.commits.iter().filter_map(|commit| {
        let (_, offset) = commit.offsets.iter().find(|(key, _)| *key == view.id)?;
        Some(Said { operation: view.op(commit.op), offset: Some(*offset) })
    });
    of_key.filter(|commit| commit.operation.outcome != Outcome::Fail).collect()
}

/// The last commit that had been accepted before the question, if the answer is below it and no
/// other commit that may stand behind it explains the answer.
fn regression<'a>(
    commits: &[Said<'a>],
    answer: &Said<'_>,
    of: impl Fn(&Said<'_>) -> bool,
) -> Option<Said<'a>> {
    let asked = answer.operation.invoked;
    let mut before = commits.iter().rev().filter(|commit| {
        let accepted = commit.operation.outcome == Outcome::Ok;
        accepted && ended_before(commit.operation, asked) && of(commit)
    });
    let last = before.next().copied().filter(|commit| answer.offset < commit.offset)?;
    let answered = answer.operation.completion();
    let explains = |other: &&Said<'_>| {
        let began = answered.is_none_or(|answered| other.operation.invoked < answered);
        // Nobody knows when what ended info takes effect.
        let is_over = other.operation.outcome == Outcome::Ok
            && ended_before(other.operation, last.operation.invoked);
        began && other.offset == answer.offset && !is_over
    };
    (!commits.iter().any(|other| explains(&other))).then_some(last)
}

fn ended_before(operation: &Operation, event: u64) -> bool {
    operation.completion().is_some_and(|completed| completed < event)
}

/// Offsets are lost with the partition that stores them, and expire.
fn ruling(view: &KeyView<'_>, commit: Said<'_>, answer: &Said<'_>) -> Ruling {
    let key = &view.key.key;
    let undecided = |why: &str| Ruling::Undecided(format!("{key}: {why}"));
    if view.unclean_promised() {
        return undecided("nothing says whether an unclean election cut the offsets' partition");
    }
    let asked_at = answer.operation.invoked_at;
    if view.run.losses.iter().any(|loss| loss.during.0 <= asked_at) {
        return undecided("nothing says whether a lost disk held the offsets' partition");
    }
    let age = asked_at.saturating_sub(commit.operation.completed_at);
    if answer.offset.is_none() && age >= retention(view) {
        return undecided("the committed offset may have expired");
    }
    if view.run.evidence.is_bare() {
        return Ruling::Forbidden;
    }
    let recovery = view.run.evidence.outcome.as_ref().and_then(|outcome| outcome.recovery.as_ref());
    match recovery {
        Some(recovery) if recovery.recovered && recovery.ended_at <= asked_at => Ruling::Forbidden,
        _ => undecided("nobody asked for the committed offset after the cluster had recovered"),
    }
}

/// How long a group's offsets are kept at least.
fn retention(view: &KeyView<'_>) -> TimeNs {
    let nodes = view.run.evidence.manifest.iter().flat_map(|manifest| &manifest.target.nodes);
    let said = nodes.filter_map(|node| node.properties.get(RETENTION)?.parse::<u64>().ok());
    said.min().unwrap_or(RETENTION_MINUTES).saturating_mul(NS_PER_MINUTE)
}

fn describe(view: &KeyView<'_>, group: &Group, commit: Said<'_>, answer: &Said<'_>) -> Finding {
    let told = match answer.offset {
        Some(offset) => format!("is told to have committed {offset}"),
        None => "is told to have committed nothing".to_owned(),
    };
    let committed = commit.offset.unwrap_or_default();
    let why = format!("group {} {told} after its commit of {committed} was accepted", group.name);
    let events = commit.operation.events().into_iter().chain(answer.operation.events());
    view.finding_at(answer.offset, 62, "D11", events.collect(), why)
}
