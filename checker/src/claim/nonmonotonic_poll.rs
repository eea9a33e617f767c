//! A consumer reads a partition in order, and passes over nothing that is there.

use highwater_history::Offset;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Permission, Ruling},
    index::{
        GroupCommit,
        operations::{OpId, Operation, Outcome},
        processes::PerProcess,
        reads::PollRun,
        records::RecordId,
    },
    view::KeyView,
};

/// Counts steps back and skips, between the operations of one process and within one operation. A
/// group may move its members, but not below what they committed themselves.
pub static ENTRY: Entry = Entry {
    rules: &[58, 60, 61],
    clauses: &[],
    evidence: &["D8"],
    anomalies: &["nonmonotonic-poll", "poll-skip", "int-nonmonotonic-poll", "int-poll-skip"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// A step between two reads.
struct Step {
    record: RecordId,
    from: Offset,
    to: Offset,
    ranks: i64,
}

/// Where a process stands on the key: the last place of its latest ok operation.
#[derive(Clone, Copy)]
struct Position {
    offset: Offset,
    op: OpId,
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let ops = &view.run.index.ops;
    let mut positions: PerProcess<Position> = PerProcess::default();
    for run in view.key.reads.runs() {
        let (process, is_ok) = (ops.process(run.op), ops.is_ok(run.op));
        let mut last: Option<Offset> = None;
        for (offset, record, follows) in view.key.reads.edges(&run) {
            let Some(to) = offset.or_else(|| view.key.order.sole(record)) else { continue };
            match last {
                Some(_) if follows => {}
                Some(from) => judge_inside(view, &run, step(view, record, from, to), findings),
                None => {
                    let position = positions.get(process);
                    judge_between(view, &run, position, (record, to), findings);
                }
            }
            last = Some(to);
        }
        if let Some(offset) = last.filter(|_| is_ok) {
            positions.insert(process, Position { offset, op: run.op });
        }
    }
}

fn step(view: &KeyView<'_>, record: RecordId, from: Offset, to: Offset) -> Step {
    Step { record, from, to, ranks: view.key.order.step(from, to) }
}

fn judge_inside(view: &KeyView<'_>, run: &PollRun, step: Step, findings: &mut Findings) {
    let anomaly = match step.ranks {
        1 => return,
        ..1 => "int-nonmonotonic-poll",
        2.. => "int-poll-skip",
    };
    if view.key.reads.is_rebalanced(run.op) {
        return;
    }
    let operation = view.op(run.op);
    let ruling = moved(view, &step, operation, operation);
    findings.rule(anomaly, ruling, || describe(view, operation, None, &step));
}

fn judge_between(
    view: &KeyView<'_>,
    run: &PollRun,
    position: Option<&Position>,
    (record, to): (RecordId, Offset),
    findings: &mut Findings,
) {
    let Some(position) = position else { return };
    let step = step(view, record, position.offset, to);
    let anomaly = match step.ranks {
        1 => return,
        ..1 => "nonmonotonic-poll",
        2.. => "poll-skip",
    };
    let operation = view.op(run.op);
    let process = view.run.index.processes.get(operation.process);
    let before = view.op(position.op);
    let since = before.completion().unwrap_or(before.invoked);
    let assigned = process.assignments_between(since, operation.invoked);
    if assigned.iter().any(|assignment| assignment.forgets(view.id)) {
        return;
    }
    let subscribed = process.assignment_before(operation.invoked).filter(|last| last.subscribed);
    let ruling = match subscribed.filter(|_| !is_below_own_commit(view, operation, to)) {
        Some(last) => Ruling::Permitted(Permission::new(
            "c.6 subscribe",
            format!("the subscription of event {}", last.event),
        )),
        None => moved(view, &step, before, operation),
    };
    findings.rule(anomaly, ruling, || describe(view, operation, Some(before), &step));
}

/// Whether a group's member is given again what lies below its own last commit: a group goes on
/// where it has committed. Not if somebody may have committed as little since.
fn is_below_own_commit(view: &KeyView<'_>, operation: &Operation, to: Offset) -> bool {
    let of_key = |commit: &GroupCommit| {
        let (_, offset) = commit.offsets.iter().find(|(key, _)| *key == view.id)?;
        Some((view.op(commit.op), *offset)).filter(|(op, _)| op.outcome != Outcome::Fail)
    };
    let ended_before = |op: &Operation, event: u64| {
        op.outcome == Outcome::Ok && op.completion().is_some_and(|completed| completed < event)
    };
    view.run.index.groups.iter().any(|group| {
        let own =
            group.commits.iter().rev().filter(|commit| {
                commit.process == operation.process && commit.generation.is_some()
            });
        let mut before =
            own.filter_map(of_key).filter(|(op, _)| ended_before(op, operation.invoked));
        let Some((last, _)) = before.next().filter(|(_, offset)| to < *offset) else {
            return false;
        };
        let mut others = group.commits.iter().filter_map(of_key);
        !others.any(|(op, offset)| {
            let began = operation.completion().is_none_or(|completed| op.invoked < completed);
            offset <= to && began && !ended_before(op, last.invoked)
        })
    })
}

/// An unclean election may set a consumer back or ahead; and records that may be gone may be
/// passed over.
fn moved(view: &KeyView<'_>, step: &Step, before: &Operation, operation: &Operation) -> Ruling {
    let highest = step.from.max(step.to);
    view.consumers_moved(highest, before, operation).or_else(|| skipped_may_be_gone(view, step))
}

/// Who goes back or stays has skipped nothing.
fn skipped_may_be_gone(view: &KeyView<'_>, step: &Step) -> Ruling {
    let skipped = view.key.order.between(step.from, step.to);
    let holders =
        skipped.flat_map(|(offset, holders)| holders.iter().map(move |record| (offset, *record)));
    holders
        .map(|(offset, record)| view.passing_over(record, offset))
        .reduce(Ruling::and)
        .unwrap_or(Ruling::Forbidden)
}

fn describe(
    view: &KeyView<'_>,
    operation: &Operation,
    before: Option<&Operation>,
    step: &Step,
) -> highwater_history::verdict::Finding {
    let Step { from, to, ranks, .. } = *step;
    let mut skipped = view.key.order.between(from, to);
    let passed = skipped.len();
    let what = match skipped.next() {
        Some((first, _)) => format!("passes over {passed} known offsets from {first} on"),
        None => "goes back or stays".to_owned(),
    };
    let why = format!("reads {to} after {from} and {what} (step {ranks})");
    let mut events = before.map_or_else(Vec::new, Operation::events);
    events.extend(operation.events());
    let mut finding = view.finding_at(Some(to), 60, "D8", events, why);
    finding.value = Some(view.key.records.value(step.record));
    finding
}
