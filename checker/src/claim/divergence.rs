//! Replicas hold the same batches below their high watermarks.

use std::collections::BTreeMap;

use highwater_history::{
    Offset,
    dump_folder::WholeDump,
    dumps::{DumpBatch, Moment},
    event::BatchId,
};

use super::{Decides, Entry, Judge, Need};
use crate::{finding::Findings, leadership::CLOCK_SLACK_NS, replicas::Dump, view::KeyView};

/// Compares every dump with the final ones: one anomaly for each base offset at which some replica
/// differs below both high watermarks.
pub static ENTRY: Entry = Entry {
    rules: &[1, 2, 3, 8, 9, 13, 15],
    clauses: &[],
    evidence: &["D4"],
    anomalies: &["divergence"],
    needs: &[Need::Dumps],
    of_history: false,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut differing: BTreeMap<Offset, String> = BTreeMap::new();
    let finals = view.dumps.iter().filter(|dump| dump.1.header.moment == Moment::Final);
    let Some(reference) = finals
        .clone()
        .find(|dump| view.log.as_ref().is_none_or(|log| log.node == dump.1.header.node))
    else {
        return;
    };
    for other in &view.dumps {
        compare(view, reference, other, &mut differing);
    }
    for (offset, why) in differing {
        findings.violation("divergence", || {
            view.finding_at(Some(offset), 3, "D4", Vec::new(), why.clone())
        });
    }
}

fn compare(
    view: &KeyView<'_>,
    reference: &Dump<'_>,
    other: &Dump<'_>,
    differing: &mut BTreeMap<Offset, String>,
) {
    let Some((from, to)) = common_range(view, reference.1, other.1) else { return };
    let mut left = within(reference.1, from, to).peekable();
    let mut right = within(other.1, from, to).peekable();
    loop {
        let offset = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(batch), None) | (None, Some(batch)) => batch.base_offset,
            (Some(a), Some(b)) => a.base_offset.min(b.base_offset),
        };
        let a = left.next_if(|batch| batch.base_offset == offset);
        let b = right.next_if(|batch| batch.base_offset == offset);
        if a.map(identity) != b.map(identity) {
            differing.entry(offset).or_insert_with(|| {
                format!(
                    "{} has {}, {} has {}",
                    reference.0.display(),
                    a.map_or("no batch".to_owned(), describe),
                    other.0.display(),
                    b.map_or("no batch".to_owned(), describe),
                )
            });
        }
    }
}

/// Offsets that both dumps speak of and both replicas knew to be committed. What an allowed
/// unclean election or the loss of data cut may differ in dumps taken before the end.
fn common_range(view: &KeyView<'_>, a: &WholeDump, b: &WholeDump) -> Option<(Offset, Offset)> {
    let start =
        |dump: &WholeDump| dump.header.from.max(dump.header.log_start.unwrap_or(dump.header.from));
    let mut to = known_hw(view, a)?.min(known_hw(view, b)?);
    to = to.min(kept_to(view, a)).min(kept_to(view, b));
    if b.header.moment != Moment::Final {
        let log = view.log.as_ref()?;
        if view.lost_data_after(b.header.at) {
            return None;
        }
        let lost_at = view.losses_after(0).map(|loss| loss.during.0).min();
        let hidden = view.unclean_may_be_hidden();
        let cut = view.elections.iter().filter(|e| {
            let after_loss = lost_at.is_some_and(|at| e.at.saturating_add(CLOCK_SLACK_NS) >= at);
            hidden || after_loss || e.unclean && e.unclean_allowed
        });
        to = cut.map(|e| log.start_of_epoch(e.epoch)).fold(to, Offset::min);
    }
    Some((start(a).max(start(b)), to))
}

/// Where a replica ends that lost data before it was dumped: what it had told goes further.
fn kept_to(view: &KeyView<'_>, dump: &WholeDump) -> Offset {
    let header = &dump.header;
    let lost =
        view.losses_after(0).any(|loss| loss.node == header.node && loss.during.0 <= header.at);
    match lost {
        true => dump.lines.last().map_or(header.from, DumpBatch::end),
        false => Offset::MAX,
    }
}

/// A high watermark that the replica had when it was dumped, or at least what it had to hold: an
/// in-sync replica holds everything below the leader's (rule 26).
fn known_hw(view: &KeyView<'_>, dump: &WholeDump) -> Option<Offset> {
    let header = &dump.header;
    let in_sync = || {
        let outcome = view.run.evidence.outcome.as_ref()?;
        let isr = &outcome.partitions.get(&header.key)?.isr;
        let log = view.log.as_ref()?;
        (header.moment == Moment::Final && isr.contains(&header.node)).then_some(log.hw)
    };
    let sampled = || {
        let told = view.replica_samples().iter().rev();
        let mut before = told.filter(|t| t.node == header.node && t.answered <= header.at);
        before.find_map(|told| told.state.hw)
    };
    header.hw.or_else(in_sync).or_else(sampled)
}

fn within(dump: &WholeDump, from: Offset, to: Offset) -> impl Iterator<Item = &DumpBatch> {
    let first = dump.lines.partition_point(|batch| batch.base_offset < from);
    dump.lines[first..].iter().take_while(move |batch| batch.last_offset < to)
}

/// What two replicas must have alike, their own health too: bytes may be wrong under a right CRC.
fn identity(batch: &DumpBatch) -> (Offset, i32, BatchId, u32, bool, bool) {
    let damaged = batch.damage.is_some();
    (batch.last_offset, batch.epoch, batch.id(), batch.crc, batch.control, damaged)
}

fn describe(batch: &DumpBatch) -> String {
    let damage = batch.damage.iter().map(|damage| format!(" ({damage})")).collect::<String>();
    format!("epoch {} producer {} crc {:08x}{damage}", batch.epoch, batch.producer_id, batch.crc)
}
