//! A consumer that goes back to the beginning begins with the first record.

use std::collections::BTreeMap;

use highwater_history::{Offset, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Permission, Ruling},
    index::{
        operations::{OpId, Outcome},
        reads::PollRun,
        records::RecordId,
    },
    view::{KeyView, RunView},
};

/// Counts resets of a process to the beginning of a key after which its first record is not the
/// first that is known. A history without a manifest does not say whether a log had lost its
/// beginning by then; what somebody reads below that place later shows that it had not, for a log's
/// start only moves on.
pub static ENTRY: Entry = Entry {
    rules: &[60, 78],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4", "c.1.5"],
    evidence: &["D8"],
    anomalies: &["reset-skip"],
    needs: &[Need::Dumps, Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_key),
};

fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    let processes = &run.index.processes;
    let mut all = (0..processes.len() as u32).map(|process| processes.get(process));
    if all.all(|process| process.assignments.iter().all(|assigned| !assigned.to_beginning)) {
        findings.not_applicable("no consumer goes back to the beginning");
    }
}

/// What a process was given first after it had gone back to the beginning.
struct Begins {
    run: PollRun,
    record: RecordId,
    to: Offset,
    /// The event that set it back.
    assigned: u64,
    /// What lets it begin anywhere: it came through a group, which may have moved it since.
    anywhere: Option<Permission>,
}

fn judge_key(view: &KeyView<'_>, findings: &mut Findings) {
    let resets = resets(view);
    match view.run.evidence.is_bare() {
        true if !resets.is_empty() => judge_by_later_reads(view, &resets, findings),
        true => {}
        false => judge_by_known_offsets(view, &resets, findings),
    }
}

/// What followed on each reset of each process, in the order in which it ended.
fn resets(view: &KeyView<'_>) -> Vec<Begins> {
    let mut judged: BTreeMap<u32, u64> = BTreeMap::new();
    let mut all = Vec::new();
    let index = view.run.index;
    for run in view.key.reads.runs() {
        let process = index.processes.get(index.ops.process(run.op));
        // Operations are far apart in memory; most consumers are never set back.
        if process.assignments.is_empty() {
            continue;
        }
        let operation = view.op(run.op);
        let Some(assigned) = process.assignment_before(operation.invoked) else { continue };
        let is_reset = assigned.to_beginning && assigned.keys.binary_search(&view.id).is_ok();
        let known = judged.get(&operation.process) == Some(&assigned.event);
        if !is_reset || known || operation.outcome != Outcome::Ok {
            continue;
        }
        let Some((record, to)) = places(view, &run).next() else { continue };
        judged.insert(operation.process, assigned.event);
        let why = || format!("the subscription of event {}", assigned.event);
        let anywhere = assigned.subscribed.then(|| Permission::new("c.6 subscribe", why()));
        all.push(Begins { run, record, to, assigned: assigned.event, anywhere });
    }
    all
}

fn judge_by_known_offsets(view: &KeyView<'_>, resets: &[Begins], findings: &mut Findings) {
    for reset in resets {
        let below: Vec<_> = view.key.order.iter().take_while(|(at, _)| *at < reset.to).collect();
        let Some((first, _)) = below.first().copied() else { continue };
        let gone = || passed_over(view, &below);
        let ruling = reset.anywhere.clone().map_or_else(gone, Ruling::Permitted);
        let passed = format!("{} known offsets from {first} on lie below", below.len());
        findings.rule("reset-skip", ruling, || describe(view, reset, &passed, &[]));
    }
}

/// The lowest place that operations read which began at or after an event.
type LowestSince = Vec<(u64, Offset, OpId)>;

/// Of a history alone: by what operations read that began after the reset one had ended. Only those
/// of the same process need no common clock.
fn judge_by_later_reads(view: &KeyView<'_>, resets: &[Begins], findings: &mut Findings) {
    let mut by_process: BTreeMap<u32, LowestSince> = BTreeMap::new();
    let mut by_all = LowestSince::new();
    for run in view.key.reads.runs() {
        let operation = view.op(run.op);
        if let Some(lowest) = places(view, &run).map(|(_, place)| place).min() {
            let read = (operation.invoked, lowest, run.op);
            by_process.entry(operation.process).or_default().push(read);
            by_all.push(read);
        }
    }
    for reads in by_process.values_mut().chain([&mut by_all]) {
        lowest_since(reads);
    }
    for reset in resets {
        let operation = view.op(reset.run.op);
        let after = operation.completion().unwrap_or(u64::MAX);
        let below = |reads: &LowestSince| {
            let nth = reads.partition_point(|(invoked, ..)| *invoked < after);
            reads.get(nth).copied().filter(|(_, lowest, _)| *lowest < reset.to)
        };
        let own = below(&by_process[&operation.process]);
        let Some((_, lowest, op)) = own.or_else(|| below(&by_all)) else { continue };
        let untimed = view.run.untimed().filter(|_| own.is_none());
        let permitted = reset.anywhere.clone().or(untimed);
        let moved = || view.consumers_moved(reset.to, operation, view.op(op));
        let later = view.op(op).events();
        let passed = format!("{lowest} was read later (event {})", later[later.len() - 1]);
        let ruling = permitted.map_or_else(moved, Ruling::Permitted);
        findings.rule("reset-skip", ruling, || describe(view, reset, &passed, &later));
    }
}

/// Sorts what was read by when it was asked for, and lets each know the lowest that follows.
fn lowest_since(reads: &mut LowestSince) {
    reads.sort_unstable();
    for nth in (1..reads.len()).rev() {
        let (_, lowest, op) = reads[nth];
        if lowest < reads[nth - 1].1 {
            (reads[nth - 1].1, reads[nth - 1].2) = (lowest, op);
        }
    }
}

/// The records that an operation read and their places, where these are known.
fn places<'a>(
    view: &'a KeyView<'_>,
    run: &PollRun,
) -> impl Iterator<Item = (RecordId, Offset)> + use<'a> {
    let edges = view.key.reads.edges(run);
    edges.filter_map(|(at, record, _)| Some((record, at.or_else(|| view.key.order.sole(record))?)))
}

/// Whether every record that was passed over may be gone, or was not yet there.
fn passed_over(view: &KeyView<'_>, below: &[(Offset, &[RecordId])]) -> Ruling {
    let records = below.iter().flat_map(|(at, holders)| holders.iter().map(move |id| (*at, *id)));
    records
        .map(|(at, id)| view.passing_over(id, at))
        .reduce(Ruling::and)
        .expect("a known offset has a holder")
}

fn describe(view: &KeyView<'_>, reset: &Begins, passed: &str, later: &[u64]) -> Finding {
    let Begins { run, record, to, assigned, .. } = reset;
    let why = format!(
        "after its reset to the beginning (event {assigned}) a consumer begins at {to}; {passed}"
    );
    let mut finding = view.finding(*record, Some(*to), 60, "D8", why);
    let events = std::iter::once(*assigned).chain(view.op(run.op).events());
    finding.events = events.chain(later.iter().copied()).collect();
    finding
}
