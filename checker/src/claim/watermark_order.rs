//! On every replica log start, LSO, HW and LEO stand in this order.

use highwater_history::{Offset, samples::ReplicaState};

use super::{Decides, Entry, Judge, Need};
use crate::{finding::Findings, told::Told, view::KeyView};

/// Counts samples. Marks of one answer were read at several instants, so that only those are
/// compared of which one was surely read before the other: the log end is asked for last, and a
/// leader's high watermark does not fall from one answer to the next.
pub static ENTRY: Entry = Entry {
    rules: &[6],
    clauses: &[],
    evidence: &["D12"],
    anomalies: &["watermark-order"],
    needs: &[Need::Samples],
    of_history: false,
    decides: Decides::BeforeTheEnd,
    judge: Judge::Key(judge),
};

fn judge(view: &KeyView<'_>, findings: &mut Findings) {
    let samples = view.replica_samples();
    for (nth, sample) in samples.iter().enumerate() {
        // What cuts committed records moves all marks, one after the other.
        if view.may_be_cut_before(sample.answered) {
            return;
        }
        let before = samples[..nth].iter().rfind(|before| before.node == sample.node);
        let Some((what, mark, bound)) = above_end(sample).or_else(|| above_hw(before?, sample))
        else {
            continue;
        };
        findings.violation("watermark-order", || {
            let why = format!(
                "node {} told {what} {mark}, and then {bound} ({} to {} ns)",
                sample.node, sample.asked, sample.answered
            );
            view.finding_at(Some(mark), 6, "D12", Vec::new(), why)
        });
    }
}

/// A mark above the log end that was asked for after it, under one leadership.
fn above_end(sample: &Told<'_, ReplicaState>) -> Option<(&'static str, Offset, String)> {
    let state = sample.state;
    let end = state.leo.filter(|end| *end >= 0 && state.leader_epoch.is_some())?;
    let marks = [("log start", state.log_start), ("LSO", state.lso), ("HW", state.hw)];
    let above = |(what, mark): (&'static str, Option<Offset>)| {
        mark.filter(|mark| *mark > end).map(|mark| (what, mark, format!("LEO {end}")))
    };
    marks.into_iter().find_map(above)
}

/// A mark above the high watermark that the same leadership told later.
fn above_hw(
    before: &Told<'_, ReplicaState>,
    sample: &Told<'_, ReplicaState>,
) -> Option<(&'static str, Offset, String)> {
    let one_leadership = before.is_same_process(sample)
        && before.state.leads == Some(true)
        && sample.state.leads == Some(true)
        && before.state.leader_epoch == sample.state.leader_epoch;
    let hw = sample.state.hw.filter(|hw| one_leadership && *hw >= 0)?;
    let marks = [("log start", before.state.log_start), ("LSO", before.state.lso)];
    let above = |(what, mark): (&'static str, Option<Offset>)| {
        mark.filter(|mark| *mark > hw).map(|mark| (what, mark, format!("HW {hw}")))
    };
    marks.into_iter().find_map(above)
}
