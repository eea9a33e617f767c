//! An acks=all write is acknowledged only once enough replicas are in sync and all of them have it.

use highwater_history::{LeaderEpoch, NodeId, Offset, TimeNs, event::Acks};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::Findings,
    index::{operations::Operation, records::RecordId},
    insync::strong::{Committed, short_of},
    min_isr::APPLIED_NS,
    registry::Registry,
    view::KeyView,
};

/// Counts records that were acknowledged although their leader knew its ISR to be under min ISR
/// from before the send on, and replicas that were in sync and did not have what was acknowledged.
pub static ENTRY: Entry = Entry {
    rules: &[16, 36, 37],
    clauses: &[],
    evidence: &["D18"],
    anomalies: &["early-ack"],
    needs: &[Need::Elections, Need::Samples],
    of_history: false,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// A leader's own sight of its ISR.
struct Sight {
    node: NodeId,
    epoch: LeaderEpoch,
    answered: TimeNs,
    in_sync: usize,
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let states = view.states();
    if states.is_empty() || !view.run.registry.is_whole {
        return;
    }
    let sights = own_sights(view);
    let mut committed = Vec::new();
    for (record, sender, offset) in promised(view) {
        if let Some((in_sync, wanted)) = under_min_isr(view, &sights, sender) {
            findings.violation("early-ack", || {
                let why = format!(
                    "acknowledged with acks=all while the ISR was of {in_sync}, which its leader \
                     knew, and min.insync.replicas was {wanted}"
                );
                view.finding(record, Some(offset), 37, "D18", why)
            });
        }
        let during = (sender.sent_at, sender.completed_at);
        committed.push(Committed { during, to: offset.saturating_add(1) });
    }
    committed.sort_by_key(|known| known.during.1);
    for short in short_of(view, &committed) {
        findings.violation("early-ack", || {
            let why = format!(
                "node {} had LEO {} at {} ns, although it was in sync while {} was acknowledged \
                 with acks=all (by {} ns)",
                short.node,
                short.end,
                short.asked,
                short.committed.to - 1,
                short.committed.during.1
            );
            view.finding_at(Some(short.committed.to - 1), 36, "D18", Vec::new(), why)
        });
    }
}

/// Records that were acknowledged with acks=all, with their offsets.
fn promised<'a>(
    view: &'a KeyView<'a>,
) -> impl Iterator<Item = (RecordId, &'a Operation, Offset)> + 'a {
    let records = &view.key.records;
    records.ids().filter_map(|record| {
        if !records.is_acknowledged(record) || view.sent_acks(record) != Acks::All {
            return None;
        }
        let offset = records.ack(record, &view.run.index.ops)?;
        Some((record, view.sender(record)?, offset))
    })
}

/// What leaders said of their own ISR, in order of time.
fn own_sights(view: &KeyView<'_>) -> Vec<Sight> {
    let told = view.partition_samples().iter();
    let mut sights: Vec<Sight> = told
        .filter(|told| told.state.leader == Some(told.node))
        .map(|told| Sight {
            node: told.node,
            epoch: told.state.leader_epoch,
            answered: told.answered,
            in_sync: told.state.isr.len(),
        })
        .collect();
    sights.sort_by_key(|sight| sight.answered);
    sights
}

/// Rule 37: the size of the ISR and how many were wanted, if too few were in sync at every instant
/// of a send and its leader had known before it.
fn under_min_isr(
    view: &KeyView<'_>,
    sights: &[Sight],
    sender: &Operation,
) -> Option<(usize, usize)> {
    let node = sender.node?;
    let time = (sender.sent_at, sender.completed_at);
    let before =
        sights.partition_point(|sight| sight.answered.saturating_add(APPLIED_NS) <= sender.sent_at);
    let sight = sights[..before].iter().rfind(|sight| sight.node == node)?;
    let states = Registry::during(view.states(), (sight.answered, sender.completed_at));
    let mut most = sight.in_sync;
    let mut wanted = usize::MAX;
    for state in states {
        if state.leader != Some(node) || state.leader_epoch != sight.epoch {
            return None;
        }
        let least = view.least_min_isr(state, time)?;
        most = most.max(state.isr.len());
        wanted = wanted.min(least);
    }
    (!states.is_empty() && most < wanted).then_some((most, wanted))
}
