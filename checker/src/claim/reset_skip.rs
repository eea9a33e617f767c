//! A consumer that goes back to the beginning begins with the first record.

use std::collections::BTreeMap;

use highwater_history::{Offset, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{operations::Outcome, reads::PollRun, records::RecordId},
    view::KeyView,
};

/// Counts resets of a process to the beginning of a key after which its first record is not the
/// first that is known. A history without a manifest does not say whether a log had lost its
/// beginning by then.
pub static ENTRY: Entry = Entry {
    rules: &[60],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4", "c.1.5"],
    evidence: &["D8"],
    anomalies: &["reset-skip"],
    needs: &[Need::Dumps, Need::Elections],
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    if view.run.evidence.is_bare() {
        findings.not_applicable("no manifest: nothing says where the log began at a reset");
        return;
    }
    let mut judged: BTreeMap<u32, u64> = BTreeMap::new();
    for run in view.key.reads.runs() {
        let operation = view.op(run.op);
        let process = view.run.index.processes.get(operation.process);
        let Some(assigned) = process.assignment_before(operation.invoked) else { continue };
        let is_reset = assigned.to_beginning && assigned.keys.binary_search(&view.id).is_ok();
        let known = judged.get(&operation.process) == Some(&assigned.event);
        if !is_reset || known || operation.outcome != Outcome::Ok {
            continue;
        }
        let Some((record, to)) = first_place(view, &run) else { continue };
        judged.insert(operation.process, assigned.event);
        let below: Vec<_> = view.key.order.iter().take_while(|(at, _)| *at < to).collect();
        if let Some((first, _)) = below.first().copied() {
            let ruling = passed_over(view, &below);
            findings.rule("reset-skip", ruling, || {
                describe(view, &run, (record, to), (first, assigned.event, below.len()))
            });
        }
    }
}

fn first_place(view: &KeyView<'_>, run: &PollRun) -> Option<(RecordId, Offset)> {
    let mut placed = view.key.reads.of(run);
    placed.find_map(|(at, record)| Some((record, at.or_else(|| view.key.order.sole(record))?)))
}

/// Whether every record that was passed over may be gone, or was not yet there.
fn passed_over(view: &KeyView<'_>, below: &[(Offset, &[RecordId])]) -> Ruling {
    let records = below.iter().flat_map(|(at, holders)| holders.iter().map(move |id| (*at, *id)));
    records
        .map(|(at, id)| view.passing_over(id, at))
        .reduce(Ruling::and)
        .expect("a known offset has a holder")
}

fn describe(
    view: &KeyView<'_>,
    run: &PollRun,
    (record, to): (RecordId, Offset),
    (first, assigned, passed): (Offset, u64, usize),
) -> Finding {
    let why = format!(
        "after its reset to the beginning (event {assigned}) a consumer begins at {to}; {passed} \
         known offsets from {first} on lie below"
    );
    let mut finding = view.finding(record, Some(to), 60, "D8", why);
    finding.events = std::iter::once(assigned).chain(view.op(run.op).events()).collect();
    finding
}
