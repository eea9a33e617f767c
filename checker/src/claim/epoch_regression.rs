//! What a broker knows of a partition never goes back to an older leader or partition epoch.

use std::collections::BTreeMap;

use highwater_history::NodeId;

use super::{Decides, Entry, Judge, Need};
use crate::{finding::Findings, view::KeyView};

/// Counts steps back within one process: a new one begins with what the log tells it first.
pub static ENTRY: Entry = Entry {
    rules: &[25, 75],
    clauses: &[],
    evidence: &["D12"],
    anomalies: &["epoch-regression"],
    needs: &[Need::Samples],
    of_history: false,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut last: BTreeMap<(NodeId, u32), [Option<i32>; 2]> = BTreeMap::new();
    for sample in view.partition_samples() {
        let known = last.entry((sample.node, sample.process)).or_default();
        let told = [
            ("leader epoch", Some(sample.state.leader_epoch)),
            ("partition epoch", sample.state.partition_epoch),
        ];
        for ((what, epoch), before) in told.into_iter().zip(known) {
            let Some(epoch) = epoch else { continue };
            if let Some(before) = before.filter(|before| epoch < *before) {
                findings.violation("epoch-regression", || {
                    let why = format!(
                        "node {} went from {what} {before} back to {epoch} by {} ns",
                        sample.node, sample.answered
                    );
                    view.finding_at(None, 25, "D12", Vec::new(), why)
                });
            }
            *before = Some(epoch);
        }
    }
}
