//! A record comes back with the bytes that were sent, in the partition that it was sent to.

use std::collections::BTreeSet;

use highwater_history::{Offset, event::PayloadFault};

use super::{Decides, Entry, Judge, Need};
use crate::{finding::Findings, view::KeyView};

/// Counts offsets whose payload was damaged, or made for another place.
pub static ENTRY: Entry = Entry {
    rules: &[1, 2],
    clauses: &[],
    evidence: &["D19"],
    anomalies: &["corrupt-payload", "misplaced"],
    needs: &[Need::Dumps],
    of_history: true,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (op, error) in &view.key.payload_errors {
        if !seen.insert(error.offset) {
            continue;
        }
        let anomaly = match error.fault {
            PayloadFault::Corrupt => "corrupt-payload",
            PayloadFault::Misplaced => "misplaced",
        };
        findings.violation(anomaly, || {
            let detail = error.detail.as_deref().unwrap_or("the payload is not this record's");
            let from = error.found_key.as_ref().map_or_else(String::new, |key| format!(" ({key})"));
            let events = view.op(*op).events();
            let why = format!("{detail}{from}");
            let mut finding = view.finding_at(Some(error.offset), 2, "D19", events, why);
            finding.value = error.value;
            finding
        });
    }
    judge_log(view, &seen, findings);
}

/// Damage that no consumer met but the final log shows below its high watermark.
fn judge_log(view: &KeyView<'_>, seen: &BTreeSet<Offset>, findings: &mut Findings) {
    let Some(log) = &view.log else { return };
    let committed = log.batches().iter().filter(|batch| batch.last_offset < log.hw);
    for batch in committed.filter(|batch| !batch.control) {
        if seen.range(batch.base_offset..=batch.last_offset).next().is_some() {
            continue;
        }
        let unreadable = || batch.records().any(|(_, value)| value.is_none());
        if batch.damage.is_some() || unreadable() {
            findings.violation("corrupt-payload", || {
                let what = batch.damage.as_deref().unwrap_or("a payload that is not the run's");
                let why = format!("the final log of node {} holds {what}", log.node);
                view.finding_at(Some(batch.base_offset), 2, "D19", Vec::new(), why)
            });
        }
    }
}
