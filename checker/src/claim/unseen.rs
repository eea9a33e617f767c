//! By the end of the run every acknowledged record has been read.

use highwater_history::Offset;

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::{Findings, Ruling},
    index::records::RecordId,
    replicas::{FinalLog, Holds},
    view::KeyView,
};

/// Counts acknowledged records that no ok poll returned; lost ones too. Not those whose place was
/// deleted since: that may have been before anybody came to read it.
pub static ENTRY: Entry = Entry {
    rules: &[38, 58, 60, 81],
    clauses: &[],
    evidence: &["D8"],
    anomalies: &["unseen"],
    needs: &[Need::Outcome],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let records = &view.key.records;
    for record in records.ids() {
        if !records.is_acknowledged(record) || records.is_ok_read(record) {
            continue;
        }
        let offset = records.ack(record, &view.run.index.ops);
        if offset.is_some_and(|offset| view.is_deleted(offset)) {
            continue;
        }
        if let Some(why) = too_early(view, record, offset) {
            // Nobody can read a partition that may stay without a leader.
            match view.run.evidence.outcome.as_ref().and_then(|o| view.nobody_may_lead(o.at)) {
                Some(permission) => findings.permit("unseen", permission, || {
                    let why = "it was acknowledged, and its partition has no leader any more";
                    view.finding(record, offset, 60, "D8", why.to_owned())
                }),
                None => findings.undecided(why),
            }
            continue;
        }
        findings.rule("unseen", ruling(view, record, offset), || {
            let why = "it was acknowledged and never read".to_owned();
            view.finding(record, offset, 60, "D8", why)
        });
    }
}

/// Without a final read that came as far as the record, nobody was given the chance to see it. What
/// the final log does not hold at all, nobody could have read.
fn too_early(view: &KeyView<'_>, record: RecordId, offset: Option<Offset>) -> Option<String> {
    if view.run.is_cut {
        return Some("the history is cut: a read may have stood in what is missing".to_owned());
    }
    if view.run.evidence.is_bare() {
        return None;
    }
    let Some(outcome) = &view.run.evidence.outcome else {
        return Some("the run was cut short before its final reads".to_owned());
    };
    let read_to = outcome.partitions.get(&view.key.key).and_then(|at| at.final_read_to);
    let gone = view.log.as_ref().is_some_and(|log| log.place_of(record).is_none());
    match (read_to, offset) {
        (Some(_), _) if gone => None,
        (Some(to), Some(offset)) if offset < to => None,
        (Some(_), None) => None,
        _ => Some(format!("{}: the final read did not reach the end", view.key.key)),
    }
}

fn ruling(view: &KeyView<'_>, record: RecordId, offset: Option<Offset>) -> Ruling {
    let log = view.log.as_ref();
    let unreadable = |log: &FinalLog<'_>| offset.map(|at| log.at(at)) == Some(Holds::Unreadable);
    if log.is_some_and(unreadable) {
        let key = &view.key.key;
        return Ruling::Undecided(format!("{key}: the final log is unreadable where it was"));
    }
    match log.is_some_and(|log| log.committed_place(record).is_some()) {
        true => Ruling::Forbidden,
        false => view.loss(record, offset),
    }
}
