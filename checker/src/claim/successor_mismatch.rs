//! Consumers that were given a record are given the same one next.

use std::collections::BTreeMap;

use highwater_history::{event::Isolation, verdict::Finding};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::{operations::OpId, order::Known, records::RecordId},
    view::KeyView,
};

/// Counts records behind which operations were given two records, where nobody tells the place of
/// one of them. Where all places are known, who skips or goes back is found by nonmonotonic-poll,
/// and an offset with two records is inconsistent-offsets.
pub static ENTRY: Entry = Entry {
    rules: &[60],
    clauses: &[],
    evidence: &["D8"],
    anomalies: &["successor-mismatch"],
    needs: &[Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// What came behind a record, and whether nobody tells the place of one of them all.
struct Behind {
    first: (RecordId, OpId),
    other: Option<(RecordId, OpId)>,
    some_unplaced: bool,
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    if !view.key.reads.some_untold() || view.is_compacted() {
        return;
    }
    let is_unplaced = |record| view.key.order.place(record) == Known::Nowhere;
    let mut behind: BTreeMap<(RecordId, bool), Behind> = BTreeMap::new();
    for (run, read) in view.key.reads.polls() {
        if view.key.reads.is_rebalanced(run.op) {
            continue;
        }
        let is_isolated = view.isolation(view.op(run.op)) == Isolation::ReadCommitted;
        let mut before = None;
        for (_, record) in read {
            let Some(from) = before.replace(record).filter(|from| *from != record) else {
                continue;
            };
            let now = (record, run.op);
            let new = || Behind { first: now, other: None, some_unplaced: is_unplaced(from) };
            let known = behind.entry((from, is_isolated)).or_insert_with(new);
            known.some_unplaced |= is_unplaced(record);
            if known.first.0 != record {
                known.other.get_or_insert(now);
            }
        }
    }
    for ((record, _), Behind { first, other, some_unplaced }) in behind {
        if let Some(other) = other.filter(|_| some_unplaced) {
            findings
                .rule("successor-mismatch", ruling(view), || describe(view, record, first, other));
        }
    }
}

/// Where something may have cut or deleted what was read, records of no known place are not judged.
fn ruling(view: &KeyView<'_>) -> Ruling {
    let undecided = |why: &str| Ruling::Undecided(format!("{}: {why}", view.key.key));
    let is_shortened = view.log.as_ref().is_some_and(|log| log.from > 0);
    if is_shortened || !view.run.losses.is_empty() {
        return undecided("a record whose offset nobody told may be gone");
    }
    view.unclean_loss(None, 0..view.elections.len())
}

fn describe(
    view: &KeyView<'_>,
    record: RecordId,
    first: (RecordId, OpId),
    other: (RecordId, OpId),
) -> Finding {
    let [value, first_value, other_value] =
        [record, first.0, other.0].map(|id| view.key.records.value(id));
    let why = format!("behind {value} one was given {first_value}, another {other_value}");
    let events = [first.1, other.1].into_iter().flat_map(|op| view.op(op).events()).collect();
    let mut finding = view.finding_at(view.key.order.sole(record), 60, "D8", events, why);
    finding.value = Some(value);
    finding
}
