//! A batch's identity is honoured: a repeat is recognised, a gap and an older epoch are refused.

use std::collections::BTreeMap;

use highwater_history::{
    LeaderEpoch, NodeId, Offset, TimeNs,
    dumps::DumpBatch,
    event::{Attempt, BatchId},
    samples::Said,
};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::Findings,
    index::Tried,
    leadership::{CLOCK_SLACK_NS, Election},
    replicas::FinalLog,
    view::{KeyView, RunView},
};

/// Judges answers to repeats, and the run of sequences in each final log.
pub static ENTRY: Entry = Entry {
    rules: &[41, 42, 43, 44, 45, 46],
    clauses: &[],
    evidence: &["D5", "D17"],
    anomalies: &["idempotence-broken"],
    needs: &[Need::Dumps],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::Key(judge),
};

/// Batches that a broker remembers of each producer and partition.
const WINDOW_BATCHES: usize = 5;

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut seen = None;
    for tried in &view.key.tried {
        judge_fencing(view, tried, findings);
        if let Some(log) = &view.log {
            let seen = seen.get_or_insert_with(|| SeenBy::of(view, log));
            judge_refused_repeat(view, (log, seen), tried, findings);
        }
    }
    judge_sequences(view, findings);
}

/// Rule 42: a repeat of a batch that the log already held is answered OK, not as out of order.
fn judge_refused_repeat(
    view: &KeyView<'_>,
    (log, seen): (&FinalLog<'_>, &SeenBy),
    tried: &Tried,
    findings: &mut Findings,
) {
    let is_refusal = |attempt: &&Attempt| attempt.code == "OUT_OF_ORDER_SEQUENCE_NUMBER";
    let Some(refusal) = tried.attempts.iter().skip(1).find(is_refusal) else { return };
    let Some(held) = log.batches().iter().find(|batch| batch.id() == tried.id) else { return };
    let was_there = seen.time_of(held.base_offset).is_some_and(|time| time <= refusal.at);
    let first_at = tried.attempts[0].at;
    if !was_there
        || !led_throughout(view, refusal)
        || restarted_between(view.run, refusal.node, first_at, refusal.at)
        || is_forgotten(view, log, held, refusal.at)
    {
        return;
    }
    findings.violation("idempotence-broken", || {
        let BatchId { producer_id, producer_epoch, sequence } = tried.id;
        let why = format!(
            "node {} refused a repeat of producer {producer_id} epoch {producer_epoch} sequence \
             {sequence} as out of order, although the log held that batch",
            refusal.node
        );
        view.finding(tried.record, Some(held.base_offset), 42, "D5", why)
    });
}

/// By when offsets of the final log were surely written: somebody had been told of that offset or
/// of a higher one, or a high watermark was above it. The list falls in both offset and time.
struct SeenBy(Vec<(Offset, TimeNs)>);

impl SeenBy {
    fn of(view: &KeyView<'_>, log: &FinalLog<'_>) -> Self {
        let records = &view.key.records;
        let told = records.ids().filter_map(|record| {
            let offset = log.place_of(record)?;
            let acked = records.ack(record, &view.run.index.ops) == Some(offset);
            let acked = view.sender(record).filter(|_| acked).map(|op| op.completed_at);
            let read = records.reader(record).map(|op| view.op(op).completed_at);
            Some((offset, acked.into_iter().chain(read).min()?))
        });
        let marks = view.run.evidence.samples.iter().filter_map(|sample| match &sample.said {
            // A follower keeps the mark that it knew until it has heard of its leader and cut.
            Said::Replica(state) if state.key == view.key.key && state.leads == Some(true) => {
                let hw = state.hw?.min(kept_since(view, log, state.leader_epoch?));
                Some((hw.saturating_sub(1), sample.answered))
            }
            Said::Replica(_) | Said::Partition(_) | Said::Silent { .. } => None,
        });
        let mut told: Vec<_> = told.chain(marks).collect();
        told.sort_unstable_by(|a, b| b.cmp(a));
        let mut earliest = TimeNs::MAX;
        for (_, time) in &mut told {
            earliest = earliest.min(*time);
            *time = earliest;
        }
        Self(told)
    }

    /// By when an offset was written, if anything tells.
    fn time_of(&self, offset: Offset) -> Option<TimeNs> {
        let from_offset = self.0.partition_point(|(at, _)| *at >= offset);
        from_offset.checked_sub(1).map(|at| self.0[at].1)
    }
}

/// How far the log of this epoch's leader is still that of the end: an unclean election or the loss
/// of data may have cut the rest since the epoch began, and what stands there was written later.
fn kept_since(view: &KeyView<'_>, log: &FinalLog<'_>, epoch: LeaderEpoch) -> Offset {
    let elections = view.elections;
    let began = elections.iter().find(|election| election.epoch == epoch).map_or(0, |e| e.at);
    let hidden = view.unclean_may_be_hidden() || view.lost_data_after(began);
    let later = elections.iter().filter(|election| election.epoch > epoch);
    let cuts = later.filter(|election| election.unclean || hidden);
    cuts.map(|election| log.start_of_epoch(election.epoch)).min().unwrap_or(Offset::MAX)
}

/// Whether the broker that refused was the leader then: a deposed one may not hold what its
/// successor has, and where no election is on record nobody knows.
fn led_throughout(view: &KeyView<'_>, refusal: &Attempt) -> bool {
    let ended = refusal.at.saturating_add(refusal.took).saturating_add(CLOCK_SLACK_NS);
    let begun = view
        .elections
        .partition_point(|election| election.at.saturating_add(CLOCK_SLACK_NS) <= refusal.at);
    let during = view.elections[begun..].iter().take_while(|election| election.at <= ended);
    let before = begun.checked_sub(1).map(|at| &view.elections[at]);
    let leads = |election: &Election| election.leader == Some(refusal.node);
    before.is_some_and(leads) && during.into_iter().all(leads)
}

/// Rule 42's measured limit: a broker that restarted remembers only each producer's last batch.
fn restarted_between(run: &RunView<'_>, node: NodeId, from: TimeNs, to: TimeNs) -> bool {
    let acts = run.index.others.iter().filter(|event| {
        let ends_process = matches!(
            event.f.as_str(),
            "kill"
                | "stop"
                | "restart"
                | "rolling-restart"
                | "storm"
                | "power-loss"
                | "wipe"
                | "start"
        );
        ends_process && (from..=to).contains(&event.time)
    });
    let named = acts.filter_map(|event| match &event.value {
        highwater_history::EventValue::Other(value) => value.get("nodes")?.as_array(),
        _ => None,
    });
    named.flatten().any(|id| id.as_i64() == Some(i64::from(node)))
}

/// Whether the producer had sent a whole window of batches after this one by a time.
fn is_forgotten(view: &KeyView<'_>, log: &FinalLog<'_>, held: &DumpBatch, by: TimeNs) -> bool {
    let later = log.batches().iter().filter(|batch| {
        batch.producer_id == held.producer_id
            && batch.producer_epoch == held.producer_epoch
            && batch.base_offset > held.base_offset
    });
    let sent = later.filter(|batch| {
        let first = batch.records().find_map(|(_, value)| view.key.records.find(value?));
        first.and_then(|id| view.sender(id)).is_none_or(|sender| sender.invoked_at <= by)
    });
    sent.count() >= WINDOW_BATCHES
}

/// Rule 41: only a lower epoch than the producer's newest is refused as such.
fn judge_fencing(view: &KeyView<'_>, tried: &Tried, findings: &mut Findings) {
    let fenced = |attempt: &&Attempt| attempt.code == "INVALID_PRODUCER_EPOCH";
    let Some(refusal) = tried.attempts.iter().find(fenced) else { return };
    let BatchId { producer_id, producer_epoch, .. } = tried.id;
    let index = view.run.index;
    let newer_session = index.processes.clients.iter().any(|client| {
        client.producer_id == Some(producer_id) && client.producer_epoch > Some(producer_epoch)
    });
    let newer_batch = view
        .dumps
        .iter()
        .flat_map(|(_, dump)| dump.lines.iter())
        .any(|batch| batch.producer_id == producer_id && batch.producer_epoch > producer_epoch);
    let newest = index.newest_epochs.get(&producer_id);
    let newer_operation = newest.is_some_and(|newest| *newest > producer_epoch);
    if newer_session || newer_batch || newer_operation {
        return;
    }
    findings.violation("idempotence-broken", || {
        let why = format!(
            "node {} fenced producer {producer_id} epoch {producer_epoch}, and no newer epoch is \
             known",
            refusal.node
        );
        view.finding(tried.record, None, 41, "D17", why)
    });
}

/// Where a producer's sequences stand in a log.
#[derive(Clone, Copy)]
struct Sequence {
    epoch: i16,
    next: i32,
}

/// Rules 41 and 42 in the final log: within an epoch sequences follow on each other, a new epoch
/// starts at 0. A producer's first batch may start anywhere (rule 44); that epochs do not fall is
/// judged by producer-id-reuse.
fn judge_sequences(view: &KeyView<'_>, findings: &mut Findings) {
    let Some(log) = &view.log else { return };
    let mut producers: BTreeMap<i64, Sequence> = BTreeMap::new();
    let data = log.batches().iter().filter(|batch| !batch.control && batch.sequence >= 0);
    for batch in data {
        let known = producers.get(&batch.producer_id).copied();
        if known.is_some_and(|known| batch.producer_epoch < known.epoch) {
            continue;
        }
        if let Some((rule, what)) = known.and_then(|known| breach(known, batch)) {
            findings.violation("idempotence-broken", || {
                let why = format!(
                    "the final log of node {} holds producer {} epoch {} sequence {}: {what}",
                    log.node, batch.producer_id, batch.producer_epoch, batch.sequence
                );
                view.finding_at(Some(batch.base_offset), rule, "D17", Vec::new(), why)
            });
        }
        let records = batch.end().saturating_sub(batch.base_offset);
        let next = Sequence {
            epoch: batch.producer_epoch,
            next: (batch.sequence.wrapping_add(records as i32)) & i32::MAX,
        };
        producers.insert(batch.producer_id, next);
    }
}

fn breach(known: Sequence, batch: &DumpBatch) -> Option<(u16, &'static str)> {
    match batch.producer_epoch.cmp(&known.epoch) {
        std::cmp::Ordering::Greater if batch.sequence != 0 => {
            Some((41, "a new epoch does not start at 0"))
        }
        std::cmp::Ordering::Equal if batch.sequence < known.next => {
            Some((42, "a repeat was appended"))
        }
        std::cmp::Ordering::Equal if batch.sequence > known.next => {
            Some((41, "a gap was accepted"))
        }
        std::cmp::Ordering::Less | std::cmp::Ordering::Greater | std::cmp::Ordering::Equal => None,
    }
}
