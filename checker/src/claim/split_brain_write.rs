//! Only the leader of an epoch accepts records, and only while its epoch lasts.

use std::collections::BTreeSet;

use highwater_history::LeaderEpoch;

use super::{Decides, Entry, Judge, Need};
use crate::{
    conflict::{Conflict, conflicts},
    finding::Findings,
    index::records::RecordId,
    leadership::{CLOCK_SLACK_NS, Election, Leadership},
    view::KeyView,
};

/// Counts conflicting pairs of different epochs, and records that a deposed leader acknowledged
/// and the cluster does not remember.
pub static ENTRY: Entry = Entry {
    rules: &[21, 22, 35, 36],
    clauses: &[],
    evidence: &["D2", "D14"],
    anomalies: &["split-brain-write"],
    needs: &[Need::Dumps, Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut explained = BTreeSet::new();
    for conflict in conflicts(view) {
        judge_conflict(view, &conflict, &mut explained, findings);
    }
    for record in view.key.records.ids() {
        if !explained.contains(&record) {
            judge_record(view, record, findings);
        }
    }
}

fn judge_conflict(
    view: &KeyView<'_>,
    conflict: &Conflict,
    explained: &mut BTreeSet<RecordId>,
    findings: &mut Findings,
) {
    let offset = conflict.offset;
    let holders = all_holders(view, conflict);
    for (nth, (first, first_epoch)) in holders.iter().enumerate() {
        for (second, second_epoch) in &holders[nth..] {
            // A record itself, too.
            if first_epoch == second_epoch {
                continue;
            }
            explained.extend([*first, *second]);
            findings.rule("split-brain-write", conflict.ruling(view), || {
                let values = [*first, *second].map(|id| view.key.records.value(id));
                let why = format!(
                    "{} was accepted at {offset} in epoch {first_epoch}, {} in epoch \
                     {second_epoch}",
                    values[0], values[1]
                );
                view.finding(*first, Some(offset), 35, "D14", why)
            });
        }
    }
}

/// The records at a conflict whose epochs are known, the surviving one among them.
fn all_holders(view: &KeyView<'_>, conflict: &Conflict) -> Vec<(RecordId, LeaderEpoch)> {
    let mut holders = conflict.holders.clone();
    let survivor = conflict.survivor.and_then(|value| view.key.records.find(value));
    holders.extend(survivor.filter(|survivor| !conflict.holders.contains(survivor)));
    let with_epoch = |id| Some((id, view.epoch_of(id, conflict.offset)?));
    holders.into_iter().filter_map(with_epoch).collect()
}

/// A record that a leader acknowledged although another had been elected before it was sent. One
/// that survived is legal: the old leader's followers may all have held it before they heard.
fn judge_record(view: &KeyView<'_>, record: RecordId, findings: &mut Findings) {
    let records = &view.key.records;
    let Some(log) = &view.log else { return };
    if !records.is_acknowledged(record) || log.place_of(record).is_some() {
        return;
    }
    let Some(offset) = records.ack(record, &view.run.index.ops) else { return };
    if offset < log.from {
        return;
    }
    let Some(deposed_by) = deposed_before(view, record) else { return };
    findings.rule("split-brain-write", view.loss(record, Some(offset)), || {
        let why = format!(
            "accepted at {offset} by a leader whose epoch was over, and cut ({})",
            deposed_by.describe()
        );
        view.finding(record, Some(offset), 35, "D14", why)
    });
}

/// The election that had deposed the acknowledging broker before the record was sent.
fn deposed_before<'a>(view: &'a KeyView<'_>, record: RecordId) -> Option<&'a Election> {
    let sender = view.sender(record)?;
    let node = sender.node?;
    let (at, _) = Leadership::led_at_latest(view.elections, node, sender.completed_at)?;
    let next: Option<&Election> = view.elections[at..].iter().find(|e| e.leader != Some(node));
    next.filter(|next| next.at.saturating_add(CLOCK_SLACK_NS) < sender.sent_at)
}
