//! The end of a log that readers are told of never goes back.

use std::collections::BTreeMap;

use highwater_history::{Offset, event::Isolation, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::operations::{OpId, Operation},
    view::{KeyView, RunView},
};

/// Counts answers of a log's end below one that had been given before the question, or below what
/// had been read. A new leader that does not know yet refuses to answer (rule 19). What is stable
/// ends at or below the high watermark: a reader of committed records bounds all, others bound
/// those who see what they see.
pub static ENTRY: Entry = Entry {
    rules: &[19, 56, 58],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4"],
    evidence: &["D12"],
    anomalies: &["latest-regression"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_key),
};

fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    if !run.index.ends_told {
        findings.not_applicable("nobody asked where a log ends");
    }
}

/// What somebody knew of a log's end.
#[derive(Clone, Copy)]
struct Known {
    end: Offset,
    op: OpId,
    was_read: bool,
}

/// The highest that was known of one sort of reader, by anybody and by each process.
#[derive(Default)]
struct Highest {
    of_all: Option<Known>,
    of_process: BTreeMap<u32, Known>,
}

impl Highest {
    fn take(&mut self, known: Known, process: u32) {
        let higher = |before: &Known| known.end > before.end;
        if self.of_all.as_ref().is_none_or(higher) {
            self.of_all = Some(known);
        }
        if self.of_process.get(&process).is_none_or(higher) {
            self.of_process.insert(process, known);
        }
    }
}

fn judge_key(view: &KeyView<'_>, findings: &mut Findings) {
    if view.key.ends.is_empty() {
        return;
    }
    let (mut stable, mut any) = (Highest::default(), Highest::default());
    let known = known_in_order(view);
    let mut next = known.iter().peekable();
    let mut asked: Vec<_> = view.key.ends.iter().map(|(op, end)| (view.op(*op), *end)).collect();
    asked.sort_by_key(|(operation, _)| operation.invoked);
    for (operation, end) in asked {
        while let Some((_, known)) = next.next_if(|(at, _)| *at < operation.invoked) {
            let by = view.op(known.op);
            any.take(*known, by.process);
            if view.isolation(by) == Isolation::ReadCommitted {
                stable.take(*known, by.process);
            }
        }
        let bounds = match view.isolation(operation) {
            Isolation::ReadCommitted => &stable,
            Isolation::ReadUncommitted => &any,
        };
        let above = |known: &&Known| known.end > end;
        let own = bounds.of_process.get(&operation.process).filter(above);
        if let Some(before) = own.or(bounds.of_all.as_ref().filter(above)) {
            let timed = view.run.untimed().filter(|_| own.is_none()).map(Ruling::Permitted);
            let cut = || view.consumers_moved(before.end - 1, view.op(before.op), operation);
            let ruling = timed.unwrap_or_else(cut);
            findings.rule("latest-regression", ruling, || describe(view, before, operation, end));
        }
    }
}

/// What answers and polls told of the end, by the event that told it.
fn known_in_order(view: &KeyView<'_>) -> Vec<(u64, Known)> {
    let told = view.key.ends.iter().map(|(op, end)| Known { end: *end, op: *op, was_read: false });
    let read = view.key.reads.runs().filter_map(|run| {
        let (offset, _) = view.key.reads.highest(&run)?;
        Some(Known { end: offset + 1, op: run.op, was_read: true })
    });
    let known = told.chain(read);
    let mut known: Vec<_> =
        known.filter_map(|known| Some((view.op(known.op).completion()?, known))).collect();
    known.sort_by_key(|(at, _)| *at);
    known
}

fn describe(view: &KeyView<'_>, before: &Known, operation: &Operation, end: Offset) -> Finding {
    let earlier = view.op(before.op);
    let at = earlier.completion().unwrap_or(earlier.invoked);
    let what = match before.was_read {
        true => format!("{} had been read (event {at})", before.end - 1),
        false => format!("{} had been answered (event {at})", before.end),
    };
    let rule = match view.isolation(operation) {
        Isolation::ReadCommitted => 56,
        Isolation::ReadUncommitted => 19,
    };
    let why = format!("the log is told to end at {end} after {what}");
    let events = earlier.events().into_iter().chain(operation.events()).collect();
    view.finding_at(Some(end), rule, "D12", events, why)
}
