//! A log is one leadership after the other, and one place of an epoch holds one batch everywhere.

use std::collections::BTreeMap;

use highwater_history::{
    LeaderEpoch, NodeId, Offset,
    dumps::{DumpBatch, DumpHeader, Moment},
    verdict::Finding,
};

use super::{Decides, Entry, Judge, Need};
use crate::{
    data_loss::DataLoss,
    epoch_batches::EpochBatches,
    finding::Findings,
    index::{operations::Requests, records::RecordId},
    leadership::{Election, Source},
    replicas::batch_at,
    view::KeyView,
};

/// Judges every dump, committed or not: each broken place counts once, however many dumps show it.
pub static ENTRY: Entry = Entry {
    rules: &[3, 5, 35],
    clauses: &[],
    evidence: &["D14"],
    anomalies: &["lineage"],
    needs: &[Need::Dumps, Need::Elections],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// Where a lineage is broken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    /// A batch of a lower epoch than the one before it.
    Fall(Offset),
    /// An entry of the epoch checkpoint that does not rise.
    Checkpoint(LeaderEpoch, Offset),
    /// Two batches at one place of an epoch.
    Double(LeaderEpoch, Offset),
    /// Batches of an epoch that nobody led.
    Unled(LeaderEpoch),
    /// A batch that another broker than its epoch's leader accepted.
    Stranger(LeaderEpoch, Offset),
}

type Breaks = BTreeMap<Break, (u16, String)>;

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut breaks = Breaks::new();
    let mut held = EpochBatches::default();
    for (name, dump) in &view.dumps {
        let place = format!("{} of node {}", name.display(), dump.header.node);
        judge_order(&place, &dump.lines, &mut breaks);
        if !is_torn(view, &dump.header) {
            judge_checkpoint(&place, &dump.header.epochs, &mut breaks);
        }
        judge_leaders(view, &place, &dump.lines, &mut breaks);
        if view.is_compacted() {
            continue;
        }
        for batch in sound(&dump.lines) {
            if let Some((offset, other)) = held.insert(batch, name) {
                breaks.entry(Break::Double(batch.epoch, offset)).or_insert_with(|| {
                    let epoch = batch.epoch;
                    let other = other.display();
                    let why = format!("{place} holds another batch of epoch {epoch} than {other}");
                    (3, why)
                });
            }
        }
    }
    judge_acceptance(view, &mut breaks);
    for (place, (rule, why)) in breaks {
        findings.violation("lineage", || finding(view, place, rule, why.clone()));
    }
}

/// Whether a replica has lost data and not been started since: its checkpoint may end in the middle
/// of a number.
fn is_torn(view: &KeyView<'_>, header: &DumpHeader) -> bool {
    let lost = |loss: &DataLoss| loss.node == header.node && loss.during.0 <= header.at;
    header.moment != Moment::Final && view.losses_after(0).any(lost)
}

/// Batches whose bytes are as they were written, of a leader that counts epochs.
fn sound(batches: &[DumpBatch]) -> impl Iterator<Item = &DumpBatch> {
    batches.iter().filter(|batch| batch.damage.is_none() && batch.epoch >= 0)
}

/// Rule 3: along a log epochs never fall.
fn judge_order(place: &str, batches: &[DumpBatch], breaks: &mut Breaks) {
    let mut previous = None;
    for batch in sound(batches) {
        if let Some(before) = previous.filter(|before| batch.epoch < *before) {
            breaks.entry(Break::Fall(batch.base_offset)).or_insert_with(|| {
                let why = format!("{place} has epoch {} after epoch {before}", batch.epoch);
                (3, why)
            });
        }
        previous = Some(batch.epoch);
    }
}

/// Rule 5: the epoch checkpoint rises in epoch and in offset.
fn judge_checkpoint(place: &str, epochs: &[(LeaderEpoch, Offset)], breaks: &mut Breaks) {
    for pair in epochs.windows(2) {
        let ((epoch, start), (next_epoch, next_start)) = (pair[0], pair[1]);
        if next_epoch > epoch && next_start > start {
            continue;
        }
        breaks.entry(Break::Checkpoint(next_epoch, next_start)).or_insert_with(|| {
            let why = format!(
                "the epoch checkpoint beside {place} has epoch {next_epoch} from {next_start} \
                 after epoch {epoch} from {start}"
            );
            (5, why)
        });
    }
}

/// Rule 35: an epoch that has records had a leader.
fn judge_leaders(view: &KeyView<'_>, place: &str, batches: &[DumpBatch], breaks: &mut Breaks) {
    if view.run.leadership.source() != Source::Metadata || view.elections.is_empty() {
        return;
    }
    for epochs in batches.chunk_by(|a, b| a.epoch == b.epoch) {
        let Some(batch) = sound(epochs).next() else { continue };
        if leader_of(view.elections, batch.epoch).is_some() {
            continue;
        }
        breaks.entry(Break::Unled(batch.epoch)).or_insert_with(|| {
            let why = format!(
                "{place} holds a batch of epoch {} at {}, and no leader of that epoch is on record",
                batch.epoch, batch.base_offset
            );
            (35, why)
        });
    }
}

/// Rule 35: what a broker acknowledged in one request stands in an epoch that it led itself. The
/// answer to a repeat may come from a later leader.
fn judge_acceptance(view: &KeyView<'_>, breaks: &mut Breaks) {
    if view.dumps.is_empty() {
        return;
    }
    let records = &view.key.records;
    for record in records.ids().filter(|record| records.is_acknowledged(*record)) {
        let Some((node, offset)) = accepted_by(view, record) else { continue };
        let Some(batch) = batch_of(view, record, offset) else { continue };
        let Some(leader) = leader_of(view.elections, batch.epoch) else { continue };
        if leader == node {
            continue;
        }
        breaks.entry(Break::Stranger(batch.epoch, batch.base_offset)).or_insert_with(|| {
            let why = format!(
                "node {node} acknowledged what stands there under epoch {}, and node {leader} led \
                 that one",
                batch.epoch
            );
            (35, why)
        });
    }
}

/// The broker that accepted a record and the offset that it told, where one request was all.
fn accepted_by(view: &KeyView<'_>, record: RecordId) -> Option<(NodeId, Offset)> {
    let sender = view.sender(record).filter(|sender| sender.requests == Requests::One)?;
    let offset = view.key.records.ack(record, &view.run.index.ops)?;
    Some((sender.node?, offset))
}

/// The batch that holds a record where it was acknowledged: in the final log, or in any dump.
fn batch_of<'a>(view: &KeyView<'a>, record: RecordId, offset: Offset) -> Option<&'a DumpBatch> {
    let value = view.key.records.value(record);
    if let Some(log) = &view.log
        && log.place_of(record) == Some(offset)
    {
        return log.batch_at(offset).filter(|batch| batch.damage.is_none());
    }
    let mut batches = view.dumps.iter().filter_map(|(_, dump)| batch_at(&dump.lines, offset));
    batches.find(|batch| {
        batch.damage.is_none() && batch.records().any(|held| held == (offset, Some(value)))
    })
}

fn leader_of(elections: &[Election], epoch: LeaderEpoch) -> Option<NodeId> {
    elections.iter().find(|election| election.epoch == epoch)?.leader
}

fn finding(view: &KeyView<'_>, place: Break, rule: u16, why: String) -> Finding {
    let offset = match place {
        Break::Fall(offset)
        | Break::Checkpoint(_, offset)
        | Break::Double(_, offset)
        | Break::Stranger(_, offset) => Some(offset),
        Break::Unled(_) => None,
    };
    view.finding_at(offset, rule, "D14", Vec::new(), why)
}
