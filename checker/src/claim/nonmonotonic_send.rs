//! What one producer sends to a partition stands there in the order in which it was sent.

use highwater_history::Offset;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Permission, Ruling},
    index::{
        operations::{OpId, Outcome},
        processes::PerProcess,
        records::RecordId,
    },
    view::KeyView,
};

/// Counts steps back between two operations of one process and within one operation; skips within
/// an operation are reported and always legal.
pub static ENTRY: Entry = Entry {
    rules: &[1, 39, 41, 47],
    clauses: &[],
    evidence: &["D6"],
    anomalies: &["nonmonotonic-send", "int-nonmonotonic-send", "int-send-skip"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

/// A sent record and its place.
type Placed = (RecordId, Offset);

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let records = &view.key.records;
    let mut last_of: PerProcess<Placed> = PerProcess::default();
    let by_op = view.key.sends.chunk_by(|a, b| records.sender(*a) == records.sender(*b));
    for sends in by_op {
        let op = records.sender(sends[0]).expect("a sent record has a sender");
        let process = view.run.index.ops.process(op);
        let placed = sends.iter().filter_map(|id| Some((*id, place(view, *id)?)));
        let mut before: Option<Placed> = None;
        for now in placed {
            match before {
                Some(before) => judge_inside(view, op, before, now, findings),
                None => judge_between(view, op, last_of.get(process), now, findings),
            }
            before = Some(now);
        }
        if let Some(last) = before {
            last_of.insert(process, last);
        }
    }
}

/// Where a sent record counts: at its own acknowledgement, else at its only known offset. Records
/// of failed sends are in no order.
fn place(view: &KeyView<'_>, record: RecordId) -> Option<Offset> {
    let records = &view.key.records;
    if records.outcome(record) == Outcome::Fail {
        return None;
    }
    records.ack(record, &view.run.index.ops).or_else(|| view.key.order.sole(record))
}

fn judge_between(
    view: &KeyView<'_>,
    op: OpId,
    before: Option<&Placed>,
    now: Placed,
    findings: &mut Findings,
) {
    if let Some(&before) = before.filter(|before| now.1 <= before.1) {
        let step = view.key.order.step(before.1, now.1);
        findings.rule("nonmonotonic-send", ruling(view, op, before), || {
            describe(view, before, now, step)
        });
    }
}

fn judge_inside(
    view: &KeyView<'_>,
    op: OpId,
    before: Placed,
    now: Placed,
    findings: &mut Findings,
) {
    let step = view.key.order.step(before.1, now.1);
    if step < 1 {
        findings.rule("int-nonmonotonic-send", ruling(view, op, before), || {
            describe(view, before, now, step)
        });
    } else if step > 1 {
        let always = Permission::new("rule 57", "others send to the partition too");
        findings.permit("int-send-skip", always, || describe(view, before, now, step));
    }
}

/// Without idempotence repeats overtake; and a record that may be gone orders nothing. On a bare
/// history nothing tells that one is gone: what acks permits there does not include the order.
fn ruling(view: &KeyView<'_>, op: OpId, before: Placed) -> Ruling {
    if !view.idempotence(view.op(op)) {
        let clause = "c.2 enable.idempotence=false";
        let fulfilled_by = "the producer was not promised order";
        return Ruling::Permitted(Permission::new(clause, fulfilled_by));
    }
    if view.run.evidence.is_bare() {
        return Ruling::Forbidden;
    }
    view.loss(before.0, Some(before.1))
}

fn describe(
    view: &KeyView<'_>,
    before: Placed,
    now: Placed,
    step: i64,
) -> highwater_history::verdict::Finding {
    let records = &view.key.records;
    let why = format!(
        "sent after {} at {}, it stands at {} (step {step})",
        records.value(before.0),
        before.1,
        now.1
    );
    let mut finding = view.finding(now.0, Some(now.1), 39, "D6", why);
    let earlier = view.sender(before.0).map_or_else(Vec::new, |sender| sender.events());
    finding.events.splice(0..0, earlier);
    finding.events.dedup();
    finding
}
