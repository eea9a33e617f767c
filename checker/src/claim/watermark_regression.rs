//! While a leader's epoch lasts, its high watermark, its log end and its log start never fall.

use std::collections::BTreeMap;

use highwater_history::{LeaderEpoch, NodeId, Offset, TimeNs, samples::ReplicaState};

use super::{Decides, Entry, Judge, Need};
use crate::{finding::Findings, told::Told, view::KeyView};

/// Counts falls from one answer of a process to the next, under one epoch.
pub static ENTRY: Entry = Entry {
    rules: &[4, 18, 78],
    clauses: &[],
    evidence: &["D12"],
    anomalies: &["watermark-regression"],
    needs: &[Need::Samples],
    of_history: false,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

/// A broker's metadata names it as leader before its replica has heard of it; until then the
/// replica may be cut as a follower of the epoch before.
const SETTLED_NS: TimeNs = 500_000_000;

/// One leadership of one process.
type Reign = (NodeId, u32, LeaderEpoch);

/// What a leadership told last.
#[derive(Default)]
struct Last {
    since: TimeNs,
    marks: [Option<Offset>; 3],
}

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let mut reigns: BTreeMap<Reign, Last> = BTreeMap::new();
    for sample in view.replica_samples() {
        let state = sample.state;
        let (Some(true), Some(epoch)) = (state.leads, state.leader_epoch) else { continue };
        let last = reigns
            .entry((sample.node, sample.process, epoch))
            .or_insert(Last { since: sample.answered, marks: [None; 3] });
        if sample.asked < last.since.saturating_add(SETTLED_NS) {
            continue;
        }
        judge_sample(view, sample, epoch, last, findings);
    }
}

fn judge_sample(
    view: &KeyView<'_>,
    sample: &Told<'_, ReplicaState>,
    epoch: LeaderEpoch,
    last: &mut Last,
    findings: &mut Findings,
) {
    let state = sample.state;
    let told = [("HW", 18, state.hw), ("LEO", 4, state.leo), ("log start", 78, state.log_start)];
    for ((what, rule, mark), before) in told.into_iter().zip(&mut last.marks) {
        let Some(mark) = mark.filter(|mark| *mark >= 0) else { continue };
        if let Some(before) = before.filter(|before| mark < *before) {
            findings.violation("watermark-regression", || {
                let why = format!(
                    "the {what} of node {}, leader of epoch {epoch}, fell from {before} to {mark} \
                     by {} ns",
                    sample.node, sample.answered
                );
                view.finding_at(Some(mark), rule, "D12", Vec::new(), why)
            });
        }
        *before = Some(mark);
    }
}
