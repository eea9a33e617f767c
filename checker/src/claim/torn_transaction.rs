//! Of the records of one transaction all are there, or none.

use std::collections::BTreeMap;

use highwater_history::{Offset, event::Isolation, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{
        operations::{OpId, Outcome},
        records::RecordId,
    },
    view::{KeyView, RunView},
};

/// Counts transactions of which a part is in the log and another part is not. Those that failed
/// are judged by G1a.
pub static ENTRY: Entry = Entry {
    rules: &[50, 55],
    clauses: &["c.1.1", "c.1.2", "c.1.3", "c.1.4", "c.1.5"],
    evidence: &["D10"],
    anomalies: &["torn-transaction"],
    needs: &[Need::Dumps, Need::Elections, Need::Outcome],
    decides: Decides::AtTheEnd,
    judge: Judge::Run(judge),
};

/// A record of a transaction: its key's number and its own.
type Part = (usize, RecordId);

/// What became of a transaction's records.
#[derive(Default)]
struct Parts {
    there: Vec<Part>,
    gone: Vec<Part>,
}

fn judge(run: &RunView<'_>, keys: &[KeyView<'_>], findings: &mut Findings) {
    if !run.index.has_transactions() {
        findings.not_applicable("no operation is a transaction");
        return;
    }
    let mut transactions: BTreeMap<OpId, Parts> = BTreeMap::new();
    for (nth, view) in keys.iter().enumerate() {
        let read_to = read_to(view);
        for record in view.key.sends.iter().copied() {
            let op = view.key.records.sender(record).expect("a sent record has a sender");
            let operation = view.op(op);
            if !operation.transaction || operation.outcome == Outcome::Fail {
                continue;
            }
            let parts = transactions.entry(op).or_default();
            if is_there(view, record) {
                parts.there.push((nth, record));
            } else if is_gone(view, record, read_to) {
                parts.gone.push((nth, record));
            }
        }
    }
    for (op, parts) in transactions {
        if !parts.there.is_empty() && !parts.gone.is_empty() {
            let ruling = ruling(run, keys, &parts);
            findings.rule("torn-transaction", ruling, || describe(run, keys, op, &parts));
        }
    }
}

/// The highest offset that ok polls of a key returned, where no final log is known.
fn read_to(view: &KeyView<'_>) -> Option<Offset> {
    let ok = view.key.reads.runs().iter().filter(|run| view.op(run.op).outcome == Outcome::Ok);
    ok.flat_map(|run| view.key.reads.of(run)).filter_map(|(offset, _)| offset).max()
}

fn is_there(view: &KeyView<'_>, record: RecordId) -> bool {
    let records = &view.key.records;
    match &view.log {
        Some(log) => log.committed_place(record).is_some(),
        // Who was not promised isolation is given what is aborted later, too.
        None => {
            records.is_ok_read(record) && {
                let reader = records.reader(record).map(|op| view.op(op));
                reader.is_some_and(|op| view.isolation(op) == Isolation::ReadCommitted)
            }
        }
    }
}

fn is_gone(view: &KeyView<'_>, record: RecordId, read_to: Option<Offset>) -> bool {
    let offset = view.key.records.ack(record, &view.run.index.ops);
    match &view.log {
        Some(log) => {
            log.place_of(record).is_none() && offset.is_none_or(|offset| offset >= log.from)
        }
        None => !view.key.records.is_read(record) && offset.is_some_and(|at| read_to >= Some(at)),
    }
}

/// Every part that is gone may be gone. What nobody acknowledged stands nowhere that could be cut:
/// where a log may have lost anything, nothing tells.
fn ruling(run: &RunView<'_>, keys: &[KeyView<'_>], parts: &Parts) -> Ruling {
    let of_part = |&(nth, record): &Part| {
        let view = &keys[nth];
        let offset = view.key.records.ack(record, &run.index.ops);
        view.loss(record, offset)
    };
    parts.gone.iter().map(of_part).reduce(Ruling::and).expect("a part is gone")
}

fn describe(run: &RunView<'_>, keys: &[KeyView<'_>], op: OpId, parts: &Parts) -> Finding {
    let name = |&(nth, record): &Part| {
        let key = &keys[nth].key;
        format!("{} of {}", key.records.value(record), key.key)
    };
    let names = |parts: &[Part]| parts.iter().map(name).collect::<Vec<_>>().join(", ");
    let (nth, record) = parts.gone[0];
    let operation = run.index.ops.get(op);
    Finding {
        key: Some(keys[nth].key.key.clone()),
        value: Some(keys[nth].key.records.value(record)),
        rule: 50,
        evidence: "D10".to_owned(),
        events: operation.events(),
        why: format!(
            "of one transaction {} is there and {} is not",
            names(&parts.there),
            names(&parts.gone)
        ),
        ..Finding::default()
    }
}
