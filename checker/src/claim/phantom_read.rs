//! Consumers are given only what was sent and what the log keeps.

use std::collections::BTreeMap;

use highwater_history::{Offset, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::records::RecordId,
    replicas::{FinalLog, Holds},
    view::KeyView,
};

/// Counts records that were read but never sent, or read where the final log holds another value.
pub static ENTRY: Entry = Entry {
    rules: &[2, 16, 17, 18, 58, 59],
    clauses: &[],
    evidence: &["D3"],
    anomalies: &["phantom-read"],
    needs: &[Need::Dumps, Need::Elections, Need::Outcome],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let records = &view.key.records;
    let mut vanished = view.log.as_ref().map_or_else(BTreeMap::new, |log| vanished(view, log));
    for record in records.ids().filter(|record| records.is_read(*record)) {
        let never_sent = records.sender(record).is_none();
        match vanished.remove(&record) {
            _ if never_sent && view.key.maybe_sent.contains(&records.value(record)) => {
                let (key, value) = (&view.key.key, records.value(record));
                findings.undecided(format!(
                    "{key}: {value} is named by an operation of which no claim knows what it is"
                ));
            }
            _ if never_sent => findings.violation("phantom-read", || {
                let why = "it was read, and nobody sent it to this key".to_owned();
                view.finding(record, view.key.order.sole(record), 58, "D3", why)
            }),
            Some((offset, ruling)) => {
                findings.rule("phantom-read", ruling, || describe(view, record, offset));
            }
            None => {}
        }
    }
}

/// Records that were read at an offset where the final log does not hold them.
fn vanished(view: &KeyView<'_>, log: &FinalLog<'_>) -> BTreeMap<RecordId, (Offset, Ruling)> {
    let mut vanished: BTreeMap<RecordId, (Offset, Ruling)> = BTreeMap::new();
    for (run, read) in view.key.reads.polls() {
        for (offset, record) in read {
            let Some(offset) = offset.filter(|offset| *offset >= log.from) else { continue };
            if log.place_of(record) == Some(offset) || may_hold(view, log, record, offset) {
                continue;
            }
            let ruling = view.read_loss(record, offset, view.op(run.op));
            match vanished.remove(&record) {
                Some((first, known)) => vanished.insert(record, (first, known.and(ruling))),
                None => vanished.insert(record, (offset, ruling)),
            };
        }
    }
    vanished
}

/// Whether the log holds the record there after all: a second copy, or bytes that cannot be read.
fn may_hold(view: &KeyView<'_>, log: &FinalLog<'_>, record: RecordId, offset: Offset) -> bool {
    match log.at(offset) {
        Holds::Value(value) => value == view.key.records.value(record),
        Holds::Unreadable => true,
        Holds::Nothing => false,
    }
}

fn describe(view: &KeyView<'_>, record: RecordId, offset: Offset) -> Finding {
    let held = view.log.as_ref().map(|log| (log.node, log.at(offset)));
    let now = match held {
        Some((node, Holds::Value(value))) => {
            format!("the final log of node {node} holds {value} there")
        }
        Some((node, _)) => format!("the final log of node {node} holds nothing there"),
        None => "no final log is known".to_owned(),
    };
    let why =
        format!("a consumer was given it at {offset}; {now}{}", view.held_by(record, Some(offset)));
    view.finding(record, Some(offset), 58, "D3", why)
}
