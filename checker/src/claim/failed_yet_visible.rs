//! What definitely failed is never seen, by a consumer or in the final log.

use std::{cell::OnceCell, collections::BTreeSet};

use highwater_history::event::Isolation;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Permission, Ruling},
    index::{operations::Outcome, records::RecordId},
    view::KeyView,
};

/// Counts failed records that another operation read (G1a), else those that the final log holds
/// (failed-yet-visible).
pub static ENTRY: Entry = Entry {
    rules: &[36, 37, 40, 48, 49],
    clauses: &[],
    evidence: &["D7", "D9"],
    anomalies: &["G1a", "failed-yet-visible"],
    needs: &[Need::Dumps],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let records = &view.key.records;
    let isolated = OnceCell::new();
    for record in records.ids() {
        let Some(sender) = view.sender(record) else { continue };
        if records.outcome(record) != Outcome::Fail {
            continue;
        }
        if records.is_read_by_other(record) {
            findings.rule("G1a", ruling(view, record, &isolated), || {
                let why = "its send ended in a definite failure, and a client read it".to_owned();
                view.finding(record, view.key.order.sole(record), 40, "D7", why)
            });
            continue;
        }
        let place = view.log.as_ref().and_then(|log| log.committed_place(record));
        // The log keeps records of aborted transactions; only readers tell whether they show.
        if let Some(offset) = place.filter(|_| !sender.transaction) {
            findings.violation("failed-yet-visible", || {
                let why = "its send ended in a definite failure, and the final log holds it";
                view.finding(record, Some(offset), 40, "D7", why.to_owned())
            });
        }
    }
}

/// Readers that were not promised isolation may see aborted transactions; all must be such.
fn ruling(view: &KeyView<'_>, record: RecordId, isolated: &OnceCell<BTreeSet<RecordId>>) -> Ruling {
    if view.run.said.isolation == Some(Isolation::ReadUncommitted) {
        let fulfilled_by = "the promise that the user named";
        return Ruling::Permitted(Permission::new(
            "c.6 isolation.level=read_uncommitted",
            fulfilled_by,
        ));
    }
    let aborted = view.sender(record).is_some_and(|sender| sender.transaction);
    let reader = view.key.records.reader(record).map(|op| view.op(op));
    match reader {
        Some(reader)
            if aborted && !isolated.get_or_init(|| read_in_isolation(view)).contains(&record) =>
        {
            let fulfilled_by = format!("the session of operation {}", reader.invoked);
            Ruling::Permitted(Permission::new("c.6 isolation.level=read_uncommitted", fulfilled_by))
        }
        _ => Ruling::Forbidden,
    }
}

/// The records that an operation other than their sender read under read_committed.
fn read_in_isolation(view: &KeyView<'_>) -> BTreeSet<RecordId> {
    let isolated = view
        .key
        .reads
        .polls()
        .filter(|(run, _)| view.isolation(view.op(run.op)) != Isolation::ReadUncommitted);
    let records = isolated.flat_map(|(run, read)| read.map(move |(_, record)| (run.op, record)));
    let by_other = records.filter(|(op, record)| view.key.records.sender(*record) != Some(*op));
    by_other.map(|(_, record)| record).collect()
}
