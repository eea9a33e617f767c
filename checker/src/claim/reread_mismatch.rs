//! A consumer that reads an offset again is given the same record.

use std::collections::BTreeMap;

use highwater_history::{Offset, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{operations::OpId, records::RecordId},
    view::KeyView,
};

/// Counts offsets at which one process was given two records. That two processes were is
/// inconsistent-offsets, which counts these too.
pub static ENTRY: Entry = Entry {
    rules: &[2, 59],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4"],
    evidence: &["D2"],
    anomalies: &["reread-mismatch"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// What a process was given first at an offset, and the first other record.
struct Given {
    first: (RecordId, OpId),
    other: Option<(RecordId, OpId)>,
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let order = &view.key.order;
    if order.conflicts().next().is_none() {
        return;
    }
    let mut given: BTreeMap<(Offset, u32), Given> = BTreeMap::new();
    for (run, read) in view.key.reads.polls() {
        let process = view.run.index.ops.process(run.op);
        for (offset, record) in read {
            let Some(offset) = offset.filter(|offset| order.holders(*offset).len() > 1) else {
                continue;
            };
            let now = (record, run.op);
            let known = given.entry((offset, process)).or_insert(Given { first: now, other: None });
            if known.first.0 != record {
                known.other.get_or_insert(now);
            }
        }
    }
    for ((offset, _), Given { first, other }) in given {
        let Some(other) = other else { continue };
        // One of them stays; the other may be gone, or both.
        let ruling = may_be_gone(view, offset, first).or_else(|| may_be_gone(view, offset, other));
        findings.rule("reread-mismatch", ruling, || describe(view, offset, first, other));
    }
}

fn may_be_gone(view: &KeyView<'_>, offset: Offset, (record, op): (RecordId, OpId)) -> Ruling {
    view.read_loss(record, offset, view.op(op))
}

fn describe(
    view: &KeyView<'_>,
    offset: Offset,
    first: (RecordId, OpId),
    other: (RecordId, OpId),
) -> Finding {
    let value = view.key.records.value(first.0);
    let why = format!("the same process had read {value} there before");
    let mut finding = view.finding(other.0, Some(offset), 59, "D2", why);
    finding.events = [first.1, other.1].into_iter().flat_map(|op| view.op(op).events()).collect();
    finding
}
