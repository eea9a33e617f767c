//! What was sent later stands later in the log, and nothing is read before it is sent.

use std::collections::BTreeMap;

use highwater_history::{Offset, event::Acks, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{
        operations::{OpId, Operation, Outcome},
        records::RecordId,
    },
    view::KeyView,
};

/// Counts records that were acknowledged below what their own process had read before it sent them
/// (which needs no common clock), else below an offset that another process had been told of by
/// then, and records that were read by an operation that had ended by then. What one process sends
/// in the wrong order is nonmonotonic-send.
pub static ENTRY: Entry = Entry {
    rules: &[39, 58],
    clauses: &[],
    evidence: &["D6"],
    anomalies: &["ack-in-the-past", "send-to-the-past", "read-of-the-future"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

/// Something that was told of the log.
#[derive(Clone, Copy)]
struct Told {
    /// Index of the completion that told it.
    at: u64,
    offset: Offset,
    record: RecordId,
    /// The process that was told.
    process: u32,
    /// Whether the record was read, not acknowledged.
    read: bool,
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    if some_may_be_past(view) {
        judge_sends(view, findings);
    }
    let records = &view.key.records;
    for record in records.ids().filter(|record| is_future(view, *record)) {
        let ruling = timed(view, Ruling::Forbidden);
        findings.rule("read-of-the-future", ruling, || future(view, record));
    }
}

/// Whether anybody was told of an offset before some send to a lower one began, whoever it was:
/// asks for few operations where the log is in about the order of the sends.
fn some_may_be_past(view: &KeyView<'_>) -> bool {
    let (records, ops) = (&view.key.records, &view.run.index.ops);
    if !view.key.order.is_plain() {
        return true;
    }
    let mut latest: Option<OpId> = None;
    for (_, holders) in view.key.order.iter() {
        let record = holders[0];
        let acked = records.sender(record).filter(|_| records.ack(record, ops).is_some());
        if let Some(latest) = latest {
            let tellers = [acked, records.reader(record)].into_iter().flatten();
            let mut early = tellers.filter(|teller| *teller < latest);
            if early.any(|teller| ended_before(ops.get(teller), ops.get(latest))) {
                return true;
            }
        }
        latest = latest.max(acked);
    }
    false
}

fn judge_sends(view: &KeyView<'_>, findings: &mut Findings) {
    let told = told_in_order(view);
    let mut highest = Highest::default();
    let mut own_reads: BTreeMap<u32, Told> = BTreeMap::new();
    let mut next = told.iter().peekable();
    let records = &view.key.records;
    for record in view.key.sends.iter().copied() {
        let sender = view.sender(record).expect("a sent record has a sender");
        while let Some(told) = next.next_if(|told| told.at < sender.invoked) {
            highest.take(told);
            if told.read {
                let own = own_reads.entry(told.process).or_insert(*told);
                if told.offset > own.offset {
                    *own = *told;
                }
            }
        }
        let Some(offset) = records.ack(record, &view.run.index.ops) else { continue };
        let is_above = |told: &Told| told.offset > offset;
        let own = own_reads.get(&sender.process).copied();
        if let Some(before) = own.filter(is_above) {
            let ruling = may_be_gone(view, before);
            findings.rule("ack-in-the-past", ruling, || past(view, record, offset, before));
        } else if let Some(before) = highest.of_others(sender.process).filter(is_above) {
            let ruling = timed(view, may_be_gone(view, before));
            findings.rule("send-to-the-past", ruling, || past(view, record, offset, before));
        }
    }
}

/// Whether a record was read by an operation that had ended before its send began.
fn is_future(view: &KeyView<'_>, record: RecordId) -> bool {
    let records = &view.key.records;
    let (Some(sender), Some(reader)) = (records.sender(record), records.reader(record)) else {
        return false;
    };
    // Operations are numbered as they begin.
    reader < sender && ended_before(view.op(reader), view.op(sender))
}

fn ended_before(one: &Operation, other: &Operation) -> bool {
    one.completion().is_some_and(|completed| completed < other.invoked)
}

/// Everything committed that ok operations were told of, by the time at which they were told. What
/// a leader alone has acknowledged says nothing of the log of the next one, also where it comes
/// back later.
fn told_in_order(view: &KeyView<'_>) -> Vec<Told> {
    let records = &view.key.records;
    let of_op = |operation: &Operation, offset, record, read| {
        let at = operation.completion().filter(|_| operation.outcome == Outcome::Ok)?;
        Some(Told { at, offset, record, process: operation.process, read })
    };
    let sends = view.key.sends.iter().filter_map(|record| {
        let offset = records.ack(*record, &view.run.index.ops)?;
        let is_committed = view.acks(*record) == Acks::All;
        of_op(view.sender(*record).filter(|_| is_committed)?, offset, *record, false)
    });
    let polls = view.key.reads.runs().filter_map(|run| {
        let (offset, record) = view.key.reads.highest(&run)?;
        of_op(view.op(run.op), offset, record, true)
    });
    let mut told: Vec<Told> = sends.chain(polls).collect();
    told.sort_by_key(|told| told.at);
    told
}

/// The highest that was told so far, and the highest that another process than its was told.
#[derive(Default)]
struct Highest {
    first: Option<Told>,
    other: Option<Told>,
}

impl Highest {
    fn take(&mut self, told: &Told) {
        match self.first {
            Some(first) if first.process == told.process => {
                if told.offset > first.offset {
                    self.first = Some(*told);
                }
            }
            Some(first) if told.offset > first.offset => {
                self.other = self.first.replace(*told);
            }
            Some(_) if self.other.is_none_or(|other| told.offset > other.offset) => {
                self.other = Some(*told);
            }
            Some(_) => {}
            None => self.first = Some(*told),
        }
    }

    fn of_others(&self, process: u32) -> Option<Told> {
        match self.first {
            Some(first) if first.process == process => self.other,
            first => first,
        }
    }
}

/// What was told before may be gone since, and its offset free again.
fn may_be_gone(view: &KeyView<'_>, before: Told) -> Ruling {
    if !before.read {
        return view.loss(before.record, Some(before.offset));
    }
    let reader = view.key.records.reader(before.record).map(|op| view.op(op));
    let reader = reader.expect("a record that was read has a reader");
    view.read_loss(before.record, before.offset, reader)
}

/// Without one clock for all processes the order in time proves nothing.
fn timed(view: &KeyView<'_>, ruling: Ruling) -> Ruling {
    match view.run.untimed() {
        Some(untimed) => Ruling::Permitted(untimed),
        None => ruling,
    }
}

fn past(view: &KeyView<'_>, record: RecordId, offset: Offset, before: Told) -> Finding {
    let what = if before.read { "read" } else { "acknowledged" };
    let value = view.key.records.value(before.record);
    let why = format!(
        "it was sent after {value} had been {what} at {} (event {}), and stands below it",
        before.offset, before.at
    );
    let mut finding = view.finding(record, Some(offset), 39, "D6", why);
    finding.events.insert(0, before.at);
    finding
}

fn future(view: &KeyView<'_>, record: RecordId) -> Finding {
    let why = "the poll that returned it had ended before its send began".to_owned();
    view.finding(record, view.key.order.sole(record), 58, "D6", why)
}
