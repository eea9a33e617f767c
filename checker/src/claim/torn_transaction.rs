//! Of the records of one transaction all are there, or none.

use std::collections::BTreeMap;

use highwater_history::{Offset, Value, event::Isolation, verdict::Finding};
use serde::{Deserialize, Serialize};

use super::{Decides, Entry, Judge, Need};
use crate::{
    across::{Across, Gather, Whole},
    finding::{Findings, Ruling},
    index::{
        KeyId,
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
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Across(Across::of::<Torn>()),
};

/// What one part knows of transactions; none where no operation is one.
type Facts = Option<Vec<Parts>>;

/// What became of the records of a transaction that one key has.
#[derive(Serialize, Deserialize)]
struct Parts {
    op: OpId,
    key: KeyId,
    events: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    there: Vec<Value>,
    /// Those that are gone, and whether they may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<(Value, Ruling)>,
}

struct Torn;

impl Gather for Torn {
    type Facts = Facts;

    fn gather(run: &RunView<'_>, keys: &[KeyView<'_>]) -> Facts {
        run.index.has_transactions().then(|| keys.iter().flat_map(of_key).collect())
    }

    fn judge(whole: &Whole<'_>, facts: Vec<Facts>, findings: &mut Findings) {
        let facts: Vec<Vec<Parts>> = facts.into_iter().flatten().collect();
        if facts.is_empty() {
            findings.not_applicable("no operation is a transaction");
        }
        let mut all: Vec<Parts> = facts.into_iter().flatten().collect();
        all.sort_by_key(|parts| (parts.op, parts.key));
        for parts in all.chunk_by(|a, b| a.op == b.op) {
            let is_there = parts.iter().any(|parts| !parts.there.is_empty());
            if let Some(ruling) = ruling(parts).filter(|_| is_there) {
                findings.rule("torn-transaction", ruling, || describe(whole, parts));
            }
        }
    }
}

fn of_key(view: &KeyView<'_>) -> Vec<Parts> {
    let read_to = read_to(view);
    let mut transactions: BTreeMap<OpId, Parts> = BTreeMap::new();
    for record in view.key.sends.iter().copied() {
        let op = view.key.records.sender(record).expect("a sent record has a sender");
        let operation = view.op(op);
        if !operation.transaction || operation.outcome == Outcome::Fail {
            continue;
        }
        let is_there = is_there(view, record);
        if !is_there && !is_gone(view, record, read_to) {
            continue;
        }
        let parts = transactions.entry(op).or_insert_with(|| Parts {
            op,
            key: view.id,
            events: operation.events(),
            there: Vec::new(),
            gone: Vec::new(),
        });
        let value = view.key.records.value(record);
        if is_there {
            parts.there.push(value);
        } else {
            parts.gone.push((value, may_be_gone(view, record)));
        }
    }
    transactions.into_values().collect()
}

/// The highest offset that ok polls of a key returned, where no final log is known.
fn read_to(view: &KeyView<'_>) -> Option<Offset> {
    let reads = &view.key.reads;
    let ok = reads.runs().filter(|run| view.op(run.op).outcome == Outcome::Ok);
    ok.filter_map(|run| Some(reads.highest(&run)?.0)).max()
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

/// What nobody acknowledged stands nowhere that could be cut: where a log may have lost anything,
/// nothing tells.
fn may_be_gone(view: &KeyView<'_>, record: RecordId) -> Ruling {
    view.loss(record, view.key.records.ack(record, &view.run.index.ops))
}

/// Every part that is gone may be gone; none where nothing is.
fn ruling(parts: &[Parts]) -> Option<Ruling> {
    let rulings = parts.iter().flat_map(|parts| &parts.gone).map(|(_, ruling)| ruling.clone());
    rulings.reduce(Ruling::and)
}

fn describe(whole: &Whole<'_>, parts: &[Parts]) -> Finding {
    let name = |(key, value): &(KeyId, Value)| format!("{value} of {}", whole.key(*key));
    let names = |of: &[(KeyId, Value)]| of.iter().map(name).collect::<Vec<_>>().join(", ");
    let there = parts.iter().flat_map(|of| of.there.iter().map(|value| (of.key, *value)));
    let there: Vec<_> = there.collect();
    let gone = parts.iter().flat_map(|of| of.gone.iter().map(|(value, _)| (of.key, *value)));
    let gone: Vec<_> = gone.collect();
    let (key, value) = gone[0];
    Finding {
        key: Some(whole.key(key).clone()),
        value: Some(value),
        rule: 50,
        evidence: "D10".to_owned(),
        events: parts[0].events.clone(),
        why: format!("of one transaction {} is there and {} is not", names(&there), names(&gone)),
        ..Finding::default()
    }
}
