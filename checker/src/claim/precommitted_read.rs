//! An operation does not read what it sends itself.

use highwater_history::event::Isolation;

use super::{Decides, Entry, Judge};
use crate::{
    finding::{Findings, Permission, Ruling},
    view::KeyView,
};

/// Counts records that one operation both sent and read.
pub static ENTRY: Entry = Entry {
    rules: &[48],
    clauses: &[],
    evidence: &["D9"],
    anomalies: &["precommitted-read"],
    needs: &[],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let records = &view.key.records;
    for record in records.ids().filter(|record| records.is_read_by_sender(*record)) {
        let sender = view.sender(record).expect("a record read by its sender has one");
        let ruling = match view.isolation(sender) {
            Isolation::ReadCommitted => Ruling::Forbidden,
            Isolation::ReadUncommitted => Ruling::Permitted(Permission::new(
                "c.6 isolation.level=read_uncommitted",
                "the reader was not promised isolation",
            )),
        };
        findings.rule("precommitted-read", ruling, || {
            let why = "the operation that sent it also read it".to_owned();
            view.finding(record, view.key.order.sole(record), 48, "D9", why)
        });
    }
}
