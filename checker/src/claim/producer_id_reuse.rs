//! A producer id belongs to one session for the cluster's life, and its epoch never falls.

use std::collections::BTreeMap;

use highwater_history::{
    Offset,
    dumps::DumpBatch,
    event::OpenClient,
    metadata::{MetadataRecord, ProducerIdsFields},
    verdict::Finding,
};

use super::{Decides, Entry, Judge, Need};
use crate::{
    finding::Findings,
    view::{KeyView, RunView},
};

/// Counts sessions that got another's id or one that the metadata log had not given out, blocks of
/// ids that do not follow on the one before, and batches of an older epoch after a newer one.
pub static ENTRY: Entry = Entry {
    rules: &[41, 46],
    clauses: &[],
    evidence: &["D17"],
    anomalies: &["producer-id-reuse"],
    needs: &[Need::Dumps],
    of_history: true,
    decides: Decides::AtTheEnd,
    judge: Judge::RunAndKeys(judge_run, judge_epochs),
};

fn judge_run(run: &RunView<'_>, findings: &mut Findings) {
    judge_sessions(run, findings);
    judge_blocks(run, findings);
}

/// Rule 46: no two sessions have one id, unless they have one transactional id, too.
fn judge_sessions(run: &RunView<'_>, findings: &mut Findings) {
    let mut holders: BTreeMap<i64, &OpenClient> = BTreeMap::new();
    for client in &run.index.processes.clients {
        let Some(id) = client.producer_id.filter(|id| *id >= 0) else { continue };
        let Some(holder) = holders.get(&id) else {
            holders.insert(id, client);
            continue;
        };
        if holder.client == client.client || one_transactional_id(holder, client) {
            continue;
        }
        findings.violation("producer-id-reuse", || {
            let why = format!(
                "clients {} and {} were both given producer id {id}",
                holder.client, client.client
            );
            finding(46, why)
        });
    }
}

fn one_transactional_id(one: &OpenClient, other: &OpenClient) -> bool {
    let named = |client: &OpenClient| client.extra.get("transactional_id").cloned();
    named(one).is_some_and(|name| named(other) == Some(name))
}

/// Rule 46: blocks of ids follow on each other, and are on record before one of them is used.
fn judge_blocks(run: &RunView<'_>, findings: &mut Findings) {
    let blocks = run.evidence.metadata.iter().filter_map(block);
    let mut next = None;
    for (offset, block_end) in blocks {
        if next.is_some_and(|next| block_end <= next) {
            findings.violation("producer-id-reuse", || {
                let before = next.unwrap_or_default();
                let why = format!(
                    "metadata record {offset}: the next producer id is {block_end} after {before}"
                );
                finding(46, why)
            });
        }
        next = next.max(Some(block_end));
    }
    let Some(next) = next.filter(|_| !run.evidence.metadata_is_cut) else { return };
    for client in &run.index.processes.clients {
        let Some(id) = client.producer_id.filter(|id| *id >= next) else { continue };
        findings.violation("producer-id-reuse", || {
            let why = format!(
                "client {} was given producer id {id}, and the metadata log gave out ids below \
                 {next} only",
                client.client
            );
            finding(46, why)
        });
    }
}

fn block(record: &MetadataRecord) -> Option<(Offset, i64)> {
    let block: ProducerIdsFields = record.of_kind("ProducerIdsRecord")?;
    Some((record.offset, block.next_producer_id))
}

/// Rule 41: along a log the epochs of a producer never fall.
fn judge_epochs(view: &KeyView<'_>, findings: &mut Findings) {
    let mut falls: BTreeMap<Offset, String> = BTreeMap::new();
    for (name, dump) in &view.dumps {
        let mut newest: BTreeMap<i64, i16> = BTreeMap::new();
        for batch in dump.lines.iter().filter(|batch| is_of_producer(batch)) {
            let known = newest.entry(batch.producer_id).or_insert(batch.producer_epoch);
            if batch.producer_epoch < *known {
                falls.entry(batch.base_offset).or_insert_with(|| {
                    format!(
                        "{} holds producer {} epoch {} after its epoch {known}",
                        name.display(),
                        batch.producer_id,
                        batch.producer_epoch
                    )
                });
            }
            *known = (*known).max(batch.producer_epoch);
        }
    }
    for (offset, why) in falls {
        findings.violation("producer-id-reuse", || {
            view.finding_at(Some(offset), 41, "D17", Vec::new(), why.clone())
        });
    }
}

fn is_of_producer(batch: &DumpBatch) -> bool {
    !batch.control && batch.damage.is_none() && batch.producer_id >= 0
}

fn finding(rule: u16, why: String) -> Finding {
    Finding { rule, evidence: "D17".to_owned(), why, ..Finding::default() }
}
